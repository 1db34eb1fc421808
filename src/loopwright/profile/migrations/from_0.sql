-- Version 0 to 1. Version 0 was one table without features, state of the cache, source, work or history: what it held
-- are experiments with warm caches.
ALTER TABLE measurements RENAME TO measurements_0;

CREATE TABLE machines (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL DEFAULT ''
);

CREATE TABLE kernels (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL DEFAULT '',
    file TEXT NOT NULL DEFAULT '',
    signature TEXT NOT NULL DEFAULT ''
);

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

CREATE TABLE tables (
    kind TEXT NOT NULL,
    machine INTEGER NOT NULL REFERENCES machines (id),
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (kind, machine, name)
) WITHOUT ROWID;

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

INSERT INTO machines (fingerprint) SELECT DISTINCT machine FROM measurements_0;
INSERT INTO kernels (fingerprint) SELECT DISTINCT kernel FROM measurements_0;

-- Of rows with one key the newest stays.
INSERT OR REPLACE INTO measurements
SELECT k.id, m.id, variant, sizes, '', 'warm', 'tune', 0, 1, 1, 0, 0, 0, made_at, outcome, time_ns, spread, runs, reason, ''
FROM measurements_0 AS old
JOIN kernels AS k ON k.fingerprint = old.kernel
JOIN machines AS m ON m.fingerprint = old.machine
ORDER BY made_at;

DROP TABLE measurements_0;
