"""A call that two devices shared, made by hand."""

from __future__ import annotations

from loopwright.report.shared_report import (
    AlternativeReport,
    DeviceReport,
    DevicesReport,
    MemberReport,
    MovedReport,
    SharedCallReport,
    SpanReport,
)

MS = 1_000_000

LAST = SharedCallReport(
    kind="split",
    why="balanced by what calls took",
    total_ns=10 * MS,
    predicted_ns=8 * MS,
    imbalance=0.25,
    members=(
        MemberReport("cpu", 600, 8 * MS, 8 * MS, 0, 2 * MS, given=600),
        MemberReport("cuda", 400, 6 * MS, 3 * MS, 4 * MS, 3 * MS, given=400),
    ),
    moved=(MovedReport("cpu", "cuda", 3 << 20, 2), MovedReport("cuda", "cpu", 1 << 20, 1)),
    spans=(
        SpanReport("cpu", "computes", 0, 8 * MS, 0, 600),
        SpanReport("cuda", "copies", 0, 1 * MS, size_bytes=2 << 20, source="cpu", target="cuda"),
        SpanReport("cuda", "copies", 1 * MS, 2 * MS, size_bytes=1 << 20, source="cpu", target="cuda"),
        SpanReport("cuda", "computes", 2 * MS, 5 * MS, 600, 1000),
        SpanReport("cuda", "copies", 5 * MS, 7 * MS, size_bytes=1 << 20, source="cuda", target="cpu"),
    ),
    calls=3,
)

SHARED = DevicesReport(
    plan="auto",
    goal="time",
    devices=(
        DeviceReport("cpu", "", "10 us and 13 ns for each iteration, from 3 calls"),
        DeviceReport("cuda", "", "900 us and 12 ns for each iteration, from 3 calls"),
        DeviceReport("cuda1", "there is no such GPU"),
    ),
    kind="split",
    why="the best that was measured",
    predicted_ns=8 * MS,
    alternatives=(
        AlternativeReport("cpu alone", 13 * MS),
        AlternativeReport("cuda alone", None),
        AlternativeReport("parts for all", 8 * MS),
    ),
    last=LAST,
)
