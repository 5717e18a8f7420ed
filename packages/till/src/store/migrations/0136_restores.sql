-- The server that this database was last seen on. A restore or a promoted standby changes one of the two.
alter table instance add column system_identifier text, add column timeline bigint;

-- A restore takes the books back to an earlier time; the chain goes on. Until every transfer up to `until_block` has its
-- row, payouts, creator roots, credit refunds and automatic credit are off on that network.
create table restore_gap (
  id bigint generated always as identity primary key,
  network text not null,
  reason text not null check (length(reason) between 1 and 300),
  until_block bigint not null check (until_block >= 0),
  detected_at timestamptz not null default now(),
  reconciled_at timestamptz
);
create unique index restore_gap_open on restore_gap (network) where reconciled_at is null;
insert into app_access values ('restore_gap', 'select, insert, update');

-- How far custody and books were apart when they were last compared, per network. Two final blocks in a row with less
-- money than the books say stop payouts until the difference is gone or a person accepts the loss.
create table custody_difference (
  network text primary key,
  block_number bigint not null,
  difference_micro bigint not null,
  stopped_at timestamptz
);
insert into app_access values ('custody_difference', 'select, insert, update');
