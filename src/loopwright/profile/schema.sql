-- The store of measurements, version 1. An older file is brought here by the scripts in migrations/.

-- fingerprint: of a device and all that compiles for it. identity: what that is, as JSON; '' where nobody has said.
CREATE TABLE machines (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL DEFAULT ''
);

-- fingerprint: of a function and the types of its arguments. The rest is for people; '' where nobody has said.
CREATE TABLE kernels (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL DEFAULT '',
    file TEXT NOT NULL DEFAULT '',
    signature TEXT NOT NULL DEFAULT ''
);

-- One row for all that was measured of a variant under one shape on one machine. sizes, features: numbers with a blank
-- between them. outcome to reason: the sum of `history`, a JSON list of [made_at, outcome, time_ns, spread, runs,
-- reason], the newest last; history is '' where there is but one of them, since the row then says the same.
CREATE TABLE measurements (
    kernel INTEGER NOT NULL REFERENCES kernels (id),
    machine INTEGER NOT NULL REFERENCES machines (id),
    variant TEXT NOT NULL,
    sizes TEXT NOT NULL,
    features TEXT NOT NULL,
    cache TEXT NOT NULL,
    source TEXT NOT NULL,
    iterations REAL NOT NULL,
    units REAL NOT NULL,
    depth REAL NOT NULL,
    footprint_bytes REAL NOT NULL,
    inputs_bytes REAL NOT NULL,
    outputs_bytes REAL NOT NULL,
    made_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    time_ns REAL NOT NULL,
    spread REAL NOT NULL,
    runs INTEGER NOT NULL,
    reason TEXT NOT NULL,
    history TEXT NOT NULL,
    PRIMARY KEY (kernel, machine, variant, sizes, features, cache, source)
) WITHOUT ROWID;

-- What was fitted to measurements: bandwidth tables, trees. content: JSON.
CREATE TABLE tables (
    kind TEXT NOT NULL,
    machine INTEGER NOT NULL REFERENCES machines (id),
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (kind, machine, name)
) WITHOUT ROWID;

-- What was chosen last for a kernel and a shape, and why. time_ns, error: as it was predicted.
CREATE TABLE choices (
    kernel INTEGER NOT NULL REFERENCES kernels (id),
    machine INTEGER NOT NULL REFERENCES machines (id),
    sizes TEXT NOT NULL,
    features TEXT NOT NULL,
    variant TEXT NOT NULL,
    why TEXT NOT NULL,
    time_ns REAL NOT NULL,
    error REAL NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (kernel, machine, sizes, features)
) WITHOUT ROWID;
