-- Bearer tokens of subscriptions and passes are made from a secret of their own and carry its version. Revoking a version
-- ends every token made with it, in all processes at once, and its secret is forgotten.
create table token_secret (
  version integer primary key check (version >= 0),
  secret bytea check (octet_length(secret) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint token_secret_forgotten check ((secret is null) = (version = 0 or revoked_at is not null))
);
-- One at a time makes new tokens.
create unique index token_secret_in_force on token_secret ((true)) where revoked_at is null and version > 0;
-- Version 0 stands for tokens that were made from signing keys: known by their hash, made by nobody any more.
insert into token_secret (version) values (0);
insert into app_access values ('token_secret', 'select, insert, update');

alter table subscription add column token_secret integer not null default 0 references token_secret (version);
alter table pass add column token_secret integer not null default 0 references token_secret (version);
-- Written by the version before this one only.
alter table subscription alter column token_key_id set default '';
alter table pass alter column token_key_id set default '';
