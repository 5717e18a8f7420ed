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

create function log_entry_stays() returns trigger language plpgsql as $$
begin
  if old.leaf_index is not null then raise exception 'a leaf of the log keeps its place'; end if;
  return new;
end $$;
create trigger log_entry_keeps_its_place before update on log_entry for each row execute function log_entry_stays();
create trigger log_entry_is_kept before delete or truncate on log_entry for each statement execute function refuse_change();

-- 256 hashes a tile. The tiles at the right edge grow, full ones never change.
create table log_tile (
  level smallint not null check (level between 0 and 63),
  tile bigint not null check (tile >= 0),
  hashes bytea not null check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0),
  primary key (level, tile)
);
insert into app_access values ('log_tile', 'select, insert, update (hashes)');
create function log_tile_grows() returns trigger language plpgsql as $$
begin
  if substring(new.hashes from 1 for octet_length(old.hashes)) <> old.hashes then
    raise exception 'tiles of the log only grow';
  end if;
  return new;
end $$;
create trigger log_tile_only_grows before update on log_tile for each row execute function log_tile_grows();
create trigger log_tile_is_kept before delete or truncate on log_tile for each statement execute function refuse_change();

-- Its lock decides who gives leaves their places.
create table log_tree (
  only_one boolean primary key default true check (only_one),
  size bigint not null check (size >= 0)
);
insert into log_tree (size) values (0);
insert into app_access values ('log_tree', 'select, update (size)');

create table log_checkpoint (
  size bigint primary key check (size > 0),
  root bytea not null check (octet_length(root) = 32),
  -- With our own signature; those of the witnesses stand apart, for they come later.
  note text not null,
  signed_at timestamptz not null
);
insert into app_access values ('log_checkpoint', 'select, insert');
create trigger log_checkpoint_is_fixed before update or delete or truncate on log_checkpoint
  for each statement execute function refuse_change();

create table log_cosignature (
  size bigint not null references log_checkpoint,
  witness text not null,
  line text not null,
  cosigned_at timestamptz not null,
  primary key (size, witness)
);
insert into app_access values ('log_cosignature', 'select, insert');

-- What a witness that runs inside a demo node has seen; others keep it in a file of their own.
create table log_witness_state (
  witness text not null,
  origin text not null,
  size bigint not null,
  root bytea not null,
  primary key (witness, origin)
);
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

-- Scores and keys are logged by the rows themselves, whoever writes them.
create function log_source_score() returns trigger language plpgsql as $$
begin
  perform log_append('score', 'score:' || new.domain || ':' || new.seq,
    json_build_object('type', 'assay.score/v1', 'domain', new.domain, 'seq', new.seq, 'score', new.score, 'jws', new.jws)::text);
  return null;
end $$;
create trigger source_score_is_logged after insert on source_score for each row execute function log_source_score();

create function log_key() returns trigger language plpgsql as $$
begin
  perform log_append('key', 'key:' || new.key_id || ':' || coalesce(new.retires_at::text, '') || ':' || coalesce(new.revoked_at::text, ''),
    json_build_object('type', 'assay.key/v1', 'key_id', new.key_id, 'x', new.public_x, 'activates_at', new.activates_at,
      'retires_at', new.retires_at, 'revoked_at', new.revoked_at)::text);
  return null;
end $$;
create trigger keyring_is_logged after insert or update on keyring for each row execute function log_key();
select log_append('key', 'key:' || key_id || '::',
  json_build_object('type', 'assay.key/v1', 'key_id', key_id, 'x', public_x, 'activates_at', activates_at,
    'retires_at', retires_at, 'revoked_at', revoked_at)::text) from keyring;
select log_append('score', 'score:' || domain || ':' || seq,
  json_build_object('type', 'assay.score/v1', 'domain', domain, 'seq', seq, 'score', score, 'jws', jws)::text)
from source_score order by computed_at, domain, seq;
