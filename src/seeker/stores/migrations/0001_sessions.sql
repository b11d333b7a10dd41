CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    catalog TEXT NOT NULL,
    person TEXT,
    began DOUBLE PRECISION NOT NULL,
    active DOUBLE PRECISION NOT NULL,
    length INTEGER NOT NULL
);
CREATE TABLE events (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, sequence)
);
CREATE INDEX sessions_by_activity ON sessions (active);
