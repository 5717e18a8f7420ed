-- Signing keys of the node. All processes read these rows, so they agree which key signs from when.
-- Private keys live in SIGNING_KEY_FILE; only a demo node, which several processes may join, shares them here.
create table keyring (
  key_id text primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
  public_x text not null unique check (public_x ~ '^[A-Za-z0-9_-]{43}$'),
  created_at timestamptz not null,
  activates_at timestamptz not null,
  retires_at timestamptz check (retires_at >= activates_at),
  revoked_at timestamptz
);
-- A published key stays published: signatures made with it must verify for years.
insert into app_access values ('keyring', 'select, insert, update (retires_at, revoked_at)');

create table key_statement (
  statement_id bigint generated always as identity primary key,
  key_id text not null references keyring,
  action text not null check (action in ('add', 'rotate', 'revoke')),
  message jsonb not null,
  chain_id bigint not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  wallet_signature text not null,
  predecessor_key_id text references keyring,
  predecessor_signature text,
  created_at timestamptz not null,
  check ((predecessor_key_id is null) = (predecessor_signature is null))
);
create index key_statement_key_id on key_statement (key_id);
insert into app_access values ('key_statement', 'select, insert');
create trigger key_statement_append_only before update or delete or truncate on key_statement
  for each statement execute function refuse_change();

create table keyring_demo_secret (
  key_id text primary key references keyring,
  private_d text not null check (private_d ~ '^[A-Za-z0-9_-]{43}$')
);
insert into app_access values ('keyring_demo_secret', 'select, insert');
