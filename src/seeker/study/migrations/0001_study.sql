CREATE TABLE study (
    one INTEGER PRIMARY KEY,
    design TEXT NOT NULL,
    consent TEXT NOT NULL,
    began DOUBLE PRECISION NOT NULL,
    joined INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL
);
CREATE TABLE study_consents (
    digest TEXT PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE TABLE study_people (
    number INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL UNIQUE,
    consent TEXT NOT NULL REFERENCES study_consents (digest),
    began DOUBLE PRECISION NOT NULL
);
CREATE TABLE study_trials (
    session TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES study_people (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    target TEXT NOT NULL,
    target_row INTEGER NOT NULL,
    model TEXT NOT NULL,
    strategy TEXT NOT NULL,
    seed BIGINT NOT NULL,
    version TEXT NOT NULL,
    began DOUBLE PRECISION NOT NULL,
    ended DOUBLE PRECISION,
    outcome TEXT,
    UNIQUE (person, number)
);
CREATE TABLE study_steps (
    session TEXT NOT NULL REFERENCES study_trials (session) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    opened DOUBLE PRECISION NOT NULL,
    milliseconds DOUBLE PRECISION,
    target_rank DOUBLE PRECISION NOT NULL,
    on_page INTEGER NOT NULL,
    claimed DOUBLE PRECISION,
    page TEXT NOT NULL,
    page_rows TEXT NOT NULL,
    act TEXT,
    item TEXT,
    shown TEXT,
    acted DOUBLE PRECISION,
    mistaken INTEGER NOT NULL,
    PRIMARY KEY (session, number)
);
