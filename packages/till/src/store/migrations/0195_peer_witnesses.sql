-- Nodes of the mesh cosign each other's tree heads.

-- The key under which this node cosigns the logs of its peers, shared by all processes of the node. Neither the response
-- key nor the log key: rotating one of those must not end a witness that verifiers have pinned.
create table witness_self (
  one boolean primary key default true check (one),
  -- The name stays what it was at the first start, like the origin of the log: it is part of the pinned key.
  name text not null check (length(name) between 1 and 255),
  private_d text not null check (private_d ~ '^[A-Za-z0-9_-]{43}$')
);
insert into app_access values ('witness_self', 'select, insert');

-- The last note that was cosigned, so that others can ask what this witness saw, and where trust began.
alter table log_witness_state
  -- SHA-256 of the origin in hex, as the read call of a witness names a log.
  add column origin_hash text,
  add column note text check (length(note) <= 20000),
  add column cosigned_at timestamptz,
  add column first_size bigint,
  add column first_at timestamptz;
create index log_witness_state_by_hash on log_witness_state (witness, origin_hash);

-- Two heads of one size that the same log signed. One pair for each origin is proof enough.
create table log_witness_fork (
  origin text primary key,
  size bigint not null,
  first_note text not null,
  second_note text not null,
  seen_at timestamptz not null
);
insert into app_access values ('log_witness_fork', 'select, insert');

-- Cosignatures of peers are kept beside those of configured witnesses, with the key that verifies them.
alter table log_cosignature add column vkey text, add column peer boolean not null default false;
