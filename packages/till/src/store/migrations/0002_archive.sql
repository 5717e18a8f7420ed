-- Partitions that left for files. From the moment of detaching they are no part of their table; the files have been
-- written, and the rows are gone, once there is a hash.
create table archived_partition (
  name text primary key,
  table_name text not null references partitioned_table,
  -- Its first day, and the first day after it (UTC).
  from_day date not null,
  until_day date not null check (until_day > from_day),
  detached_at timestamptz not null,
  -- Of its manifest, which has the hash of every file.
  manifest_sha256 bytea check (octet_length(manifest_sha256) = 32),
  archived_at timestamptz,
  check ((manifest_sha256 is null) = (archived_at is null))
);
insert into app_access values ('archived_partition', 'select');

-- What archived entries come to, so that balances can still be computed from entries. Clearing accounts by payment, as far as
-- something was left in them; else the payment is ''.
create table ledger_archived (
  account_id bigint not null,
  payment_id text collate "C" not null,
  amount_micro numeric not null,
  since timestamptz not null,
  primary key (account_id, payment_id)
);
insert into app_access values ('ledger_archived', 'select');
