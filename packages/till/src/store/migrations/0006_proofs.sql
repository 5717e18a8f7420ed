-- Secrets that all processes of one node must share, such as the key of stateless challenge nonces.
-- Losing one only invalidates challenges that are still open; it opens nothing.
create table shared_secret (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  secret bytea not null check (octet_length(secret) = 32),
  created_at timestamptz not null default now()
);
insert into app_access values ('shared_secret', 'select, insert');
