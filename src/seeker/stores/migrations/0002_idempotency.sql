CREATE TABLE idempotency (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    length INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
);
CREATE INDEX idempotency_by_session ON idempotency (session);
