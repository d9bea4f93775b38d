-- The users of a fresh store. Both servers run this when they start: whatever an earlier
-- run has stored is gone. The schema is theirs alone, so that no table of anybody else is
-- touched, whichever database they are pointed at.
DROP SCHEMA IF EXISTS gonogo CASCADE;
CREATE SCHEMA gonogo;
CREATE SEQUENCE gonogo.ids START 10001;
CREATE TABLE gonogo.users (
  id text PRIMARY KEY DEFAULT nextval('gonogo.ids')::text,
  name text NOT NULL,
  email text NOT NULL
);
INSERT INTO gonogo.users
  SELECT i::text, 'User ' || i, 'user' || i || '@example.com' FROM generate_series(1, 10000) AS i;
ANALYZE gonogo.users;
