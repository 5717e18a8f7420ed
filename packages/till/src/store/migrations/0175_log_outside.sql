-- The tree heads that others hold of this log. A head is signed only while the tree extends every one of them: after a
-- restore the node would otherwise sign another history under the same name.
create table log_outside_head (
  source text primary key check (length(source) between 1 and 300),
  size bigint not null check (size >= 0),
  -- Null where the source names a size and shows no head: witnesses.
  root bytea check (octet_length(root) = 32),
  note text check (length(note) < 100000),
  agrees boolean not null,
  reason text,
  seen_at timestamptz not null default clock_timestamp()
);
-- Up to which block the anchors of this log were read.
create table log_anchor_scan (network text primary key, block_number bigint not null);

alter table log_tree
  add column checked_at timestamptz,
  add column forked_at timestamptz,
  add column fork_reason text;
update app_access set privileges = 'select, update (size, origin, checked_at, forked_at, fork_reason)'
  where table_name = 'log_tree';

-- A second restore while a gap is open is a restore of its own.
alter table restore_gap add column noticed_at timestamptz not null default clock_timestamp();

-- Heads that a repair replaced: published in a fork, or under an earlier origin. Never used again, never lost.
create table log_former_head (
  origin text not null,
  size bigint not null,
  root bytea not null,
  note text not null,
  signed_at timestamptz not null,
  replaced_at timestamptz not null default clock_timestamp(),
  primary key (origin, size, root)
);
insert into app_access values ('log_former_head', 'select, insert');

-- Origins this log had before. The first leaf of its successor says the same to everyone.
create table log_predecessor (
  origin text primary key,
  last_head text,
  outside_head text,
  outside_size bigint,
  replaced_at timestamptz not null default clock_timestamp()
);
insert into app_access values ('log_predecessor', 'select');

-- Heads are pruned, see log/prune-heads.ts; young ones and the newest stay whatever happens.
drop trigger log_checkpoint_is_fixed on log_checkpoint;
create trigger log_checkpoint_is_fixed before update or truncate on log_checkpoint
  for each statement execute function refuse_change();
create function log_checkpoint_is_needed() returns trigger language plpgsql as $$
begin
  if old.signed_at > now() - interval '7 days' or not exists (select from log_checkpoint where size > old.size) then
    raise exception 'this tree head is still needed';
  end if;
  return old;
end $$;
create trigger log_checkpoint_is_kept before delete on log_checkpoint
  for each row execute function log_checkpoint_is_needed();
update app_access set privileges = 'select, insert, delete' where table_name in ('log_checkpoint', 'log_cosignature');
create index log_checkpoint_signed on log_checkpoint (signed_at);
