ALTER TABLE sessions ADD COLUMN owner TEXT;
CREATE INDEX sessions_by_owner ON sessions (owner);
CREATE INDEX sessions_by_person ON sessions (person, began);
