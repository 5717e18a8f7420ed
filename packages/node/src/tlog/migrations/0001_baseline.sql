-- The append-only log. An entry is written in the transaction of what it is about; its place in the tree is given to it
-- a moment later, in batches, so that nobody who writes one waits for the others.
create table log_entry (
  id bigint generated always as identity primary key,
  kind text not null check (kind ~ '^[a-z][a-z_]{0,30}$'),
  -- What it is about, at most one entry each.
  subject text not null unique check (length(subject) between 1 and 300),
  entry bytea not null check (octet_length(entry) between 1 and 65535),
  leaf_hash bytea not null check (octet_length(leaf_hash) = 32),
  leaf_index bigint unique check (leaf_index >= 0),
  created_at timestamptz not null default clock_timestamp()
);
create index log_entry_waiting on log_entry (id) where leaf_index is null;
insert into app_access values ('log_entry', 'select, insert, update (leaf_index)');

-- Written far more often than read, and the usual compression is most of the cost of writing. Where the server lacks the
-- quick one, they stay as they are.
do $$ begin
  alter table log_entry alter column entry set compression lz4;
exception when feature_not_supported then null;
end $$;
create trigger log_entry_is_kept before delete or truncate on log_entry for each statement execute function refuse_change();

create function log_entry_stays() returns trigger language plpgsql as $$
begin
  if old.leaf_index is not null then raise exception 'a leaf of the log keeps its place'; end if;
  return new;
end $$;
create trigger log_entry_keeps_its_place before update on log_entry for each row execute function log_entry_stays();

-- 256 hashes a tile. The tiles at the right edge grow, full ones never change.
create table log_tile (
  level smallint not null check (level between 0 and 63),
  tile bigint not null check (tile >= 0),
  -- Hashes do not get smaller.
  hashes bytea not null check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0),
  primary key (level, tile)
);
alter table log_tile alter column hashes set storage external;
insert into app_access values ('log_tile', 'select, insert, update (hashes)');
create trigger log_tile_is_kept before delete or truncate on log_tile for each statement execute function refuse_change();

create function log_tile_grows() returns trigger language plpgsql as $$
begin
  if substring(new.hashes from 1 for octet_length(old.hashes)) <> old.hashes then
    raise exception 'tiles of the log only grow';
  end if;
  return new;
end $$;
create trigger log_tile_only_grows before update on log_tile for each row execute function log_tile_grows();

-- Its lock decides who gives leaves their places.
create table log_tree (
  only_one boolean primary key default true check (only_one),
  size bigint not null check (size >= 0),
  -- The name under which the log signs. It stays what it was at the first start, whatever address the node has later:
  -- another name would be another log to everyone who watches it.
  origin text check (length(origin) between 1 and 255),
  checked_at timestamptz,
  forked_at timestamptz,
  fork_reason text,
  -- Old heads over fewer leaves were decided about.
  pruned_to bigint not null default 0
);
insert into app_access values ('log_tree', 'select, update (size, origin, checked_at, forked_at, fork_reason, pruned_to)');
insert into log_tree (size) values (0);

create table log_checkpoint (
  size bigint primary key check (size > 0),
  root bytea not null check (octet_length(root) = 32),
  -- With our own signature; those of the witnesses are stored separately, for they come later.
  note text not null,
  signed_at timestamptz not null
);
create index log_checkpoint_signed on log_checkpoint (signed_at);
insert into app_access values ('log_checkpoint', 'select, insert, delete');
create trigger log_checkpoint_is_fixed before update or truncate on log_checkpoint
  for each statement execute function refuse_change();

create table log_cosignature (
  size bigint not null references log_checkpoint,
  witness text not null,
  line text not null,
  cosigned_at timestamptz not null,
  -- Cosignatures of peers are kept beside those of configured witnesses, with the key that verifies them.
  vkey text,
  peer boolean not null default false,
  primary key (size, witness)
);
create index log_cosignature_by_witness on log_cosignature (witness, size);
create index log_cosignature_of_peers on log_cosignature (size) where peer;
insert into app_access values ('log_cosignature', 'select, insert, delete');

-- What a witness that runs inside a demo node has seen; others keep it in their own file.
create table log_witness_state (
  witness text not null,
  origin text not null,
  size bigint not null,
  root bytea not null,
  -- The last note that was cosigned, so that others can ask what this witness saw, and where trust began.
  -- SHA-256 of the origin in hex, as the read call of a witness names a log.
  origin_hash text,
  note text check (length(note) <= 20000),
  cosigned_at timestamptz,
  first_size bigint,
  first_at timestamptz,
  primary key (witness, origin)
);
create index log_witness_state_by_hash on log_witness_state (witness, origin_hash);

create table log_witness_key (
  witness text primary key,
  private_d text not null
);

create table log_anchor (
  network text not null,
  size bigint not null references log_checkpoint,
  root bytea not null,
  contract text not null,
  -- sent: on its way. anchored: in a final block.
  state text not null check (state in ('sent', 'anchored')),
  transaction text,
  block_number bigint,
  sent_at timestamptz not null,
  anchored_at timestamptz,
  primary key (network, size)
);

create function log_append(kind text, subject text, entry text) returns void language sql as $$
  insert into log_entry (kind, subject, entry, leaf_hash)
  values (kind, subject, convert_to(entry, 'UTF8'), sha256('\x00'::bytea || convert_to(entry, 'UTF8')))
  on conflict do nothing
$$;

create function log_key() returns trigger language plpgsql as $$
begin
  perform log_append('key', 'key:' || new.key_id || ':' || coalesce(new.retires_at::text, '') || ':' || coalesce(new.revoked_at::text, ''),
    json_build_object('type', 'assay.key/v1', 'purpose', new.purpose, 'key_id', new.key_id, 'x', new.public_x,
      'activates_at', new.activates_at, 'retires_at', new.retires_at, 'revoked_at', new.revoked_at)::text);
  return null;
end $$;
create trigger keyring_is_logged after insert or update on keyring for each row execute function log_key();

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
create table log_anchor_scan (
  network text primary key,
  block_number bigint not null
);

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

create function log_checkpoint_is_needed() returns trigger language plpgsql as $$
begin
  if old.signed_at > now() - interval '7 days' or not exists (select from log_checkpoint where size > old.size) then
    raise exception 'this tree head is still needed';
  end if;
  return old;
end $$;
create trigger log_checkpoint_is_kept before delete on log_checkpoint
  for each row execute function log_checkpoint_is_needed();

-- The key under which this node cosigns the logs of its peers, shared by all processes of the node. Neither the response
-- key nor the log key: rotating one of those must not end a witness that verifiers have pinned.
create table witness_self (
  one boolean primary key default true check (one),
  -- The name stays what it was at the first start, like the origin of the log: it is part of the pinned key.
  name text not null check (length(name) between 1 and 255),
  private_d text not null check (private_d ~ '^[A-Za-z0-9_-]{43}$')
);
insert into app_access values ('witness_self', 'select, insert');

-- Two heads of one size that the same log signed. One pair for each origin is proof enough.
create table log_witness_fork (
  origin text primary key,
  size bigint not null,
  first_note text not null,
  second_note text not null,
  seen_at timestamptz not null
);
insert into app_access values ('log_witness_fork', 'select, insert');
