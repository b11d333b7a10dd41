BEGIN TRANSACTION;
CREATE TABLE events (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, sequence)
);
INSERT INTO "events" VALUES('62ORkPaehDtlfoqhcaUVvw',1,1790000000.0,'{"schema":2,"type":"start","model":{"name":"choice","sigmas":[0.8,0.4,0.2,0.1,0.05],"slip":0.05,"beta":1.0,"weights":"broad"},"strategy":{"name":"boltzmann","c":0.3535533905932738,"score":"log","schedule":null,"first":"cover"},"page_size":4,"seed":7,"prior":null,"filter":null,"user":"ann","repeat":"never"}');
INSERT INTO "events" VALUES('62ORkPaehDtlfoqhcaUVvw',2,1790000002.0,'{"schema":2,"type":"click","item":"item 214","verdict":"like","shown":["item 214","item 42","item 103","item 136"]}');
INSERT INTO "events" VALUES('62ORkPaehDtlfoqhcaUVvw',3,1790000004.0,'{"schema":2,"type":"click","item":"item 115","verdict":"dislike","shown":["item 187","item 115","item 264","item 208"]}');
INSERT INTO "events" VALUES('62ORkPaehDtlfoqhcaUVvw',4,1790000006.0,'{"schema":2,"type":"undo","count":1}');
INSERT INTO "events" VALUES('s-CqgMYDoqLjOUqJuI0boA',1,1790000008.0,'{"schema":2,"type":"start","model":{"name":"choice","sigmas":[0.8,0.4,0.2,0.1,0.05],"slip":0.05,"beta":1.0,"weights":"broad"},"strategy":{"name":"boltzmann","c":0.3535533905932738,"score":"log","schedule":null,"first":"cover"},"page_size":4,"seed":8,"prior":null,"filter":null,"user":null,"repeat":"never"}');
CREATE TABLE idempotency (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    length INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
);
INSERT INTO "idempotency" VALUES('key site','first-key-of-sixteen','f1','62ORkPaehDtlfoqhcaUVvw',1);
INSERT INTO "idempotency" VALUES('62ORkPaehDtlfoqhcaUVvw','second-key-of-sixteen','f2','62ORkPaehDtlfoqhcaUVvw',3);
CREATE TABLE seeker_schema (version INTEGER NOT NULL);
INSERT INTO "seeker_schema" VALUES(1);
INSERT INTO "seeker_schema" VALUES(2);
INSERT INTO "seeker_schema" VALUES(3);
INSERT INTO "seeker_schema" VALUES(4);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    catalog TEXT NOT NULL,
    person TEXT,
    began DOUBLE PRECISION NOT NULL,
    active DOUBLE PRECISION NOT NULL,
    length INTEGER NOT NULL
, owner TEXT);
INSERT INTO "sessions" VALUES('62ORkPaehDtlfoqhcaUVvw','shop','ann',1790000000.0,1790000006.0,4,'site');
INSERT INTO "sessions" VALUES('s-CqgMYDoqLjOUqJuI0boA','shop',NULL,1790000008.0,1790000008.0,1,NULL);
CREATE TABLE shares (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    token TEXT NOT NULL UNIQUE
);
INSERT INTO "shares" VALUES('62ORkPaehDtlfoqhcaUVvw','qYxSR3S7Sh3XuC-ZpcNNMw');
CREATE INDEX sessions_by_activity ON sessions (active);
CREATE INDEX idempotency_by_session ON idempotency (session);
CREATE INDEX sessions_by_owner ON sessions (owner);
CREATE INDEX sessions_by_person ON sessions (person, began);
COMMIT;
