-- What the application role may do with a table; tables not named here: select, insert, update, delete.
-- The store grants it at each start, so migrations contain no GRANT.
create table app_access (
  table_name text primary key,
  privileges text not null
);
insert into app_access values
  ('app_access', 'select'),
  ('schema_migration', 'select');

-- For tables that only grow: refuses for everyone, the owner included.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: its rows are never changed', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end $$;

-- Which node this database belongs to.
create table instance (
  only_one boolean primary key default true check (only_one),
  mode text not null,
  chains jsonb not null,
  assets jsonb not null,
  payees jsonb not null,
  key_id text not null,
  created_at timestamptz not null default now()
);
insert into app_access values ('instance', 'select, insert, update');

-- Keys rotate; nothing else about an instance ever changes.
create function refuse_instance_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.mode, new.chains, new.assets, new.payees, new.created_at)
      is not distinct from (old.mode, old.chains, old.assets, old.payees, old.created_at) then
    return new;
  end if;
  raise exception 'the instance row is fixed' using errcode = 'insufficient_privilege';
end $$;
create trigger instance_is_fixed before update or delete on instance
  for each row execute function refuse_instance_change();

-- A switch that is on stops what it names.
create table kill_switch (
  name text primary key check (name in ('paid', 'payouts', 'facilitator', 'options')),
  is_on boolean not null default false,
  reason text not null default '',
  changed_by text not null default 'installation',
  changed_at timestamptz not null default now()
);
insert into kill_switch (name) values ('paid'), ('payouts'), ('facilitator'), ('options');
insert into app_access values ('kill_switch', 'select, update');

create function announce_kill_switch() returns trigger language plpgsql as $$
begin
  perform pg_notify('kill_switch', '');
  return null;
end $$;
create trigger kill_switch_changed after update on kill_switch
  for each statement execute function announce_kill_switch();

-- Who did what. Each row carries the hash of the one before it.
create table audit_log (
  id bigint primary key,
  happened_at timestamptz not null,
  actor text not null check (length(actor) between 1 and 200),
  action text not null check (length(action) between 1 and 100),
  subject text not null check (length(subject) <= 400),
  details jsonb not null,
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32)
);
insert into app_access values ('audit_log', 'select, insert');

create function audit_hash(entry audit_log) returns bytea language sql immutable as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.id, (extract(epoch from entry.happened_at) * 1000000)::bigint,
    entry.actor, entry.action, entry.subject, entry.details)::text, 'UTF8'))
$$;

-- Rows get their place in the chain here, one writer at a time, whatever the caller wrote into those columns.
create function chain_audit_row() returns trigger language plpgsql as $$
declare
  last record;
begin
  perform pg_advisory_xact_lock(1634952033, 4);
  select id, hash into last from audit_log order by id desc limit 1;
  new.id := coalesce(last.id, 0) + 1;
  new.happened_at := clock_timestamp();
  new.previous_hash := coalesce(last.hash, decode(repeat('00', 32), 'hex'));
  new.hash := audit_hash(new);
  return new;
end $$;
create trigger audit_chain before insert on audit_log for each row execute function chain_audit_row();
create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Things that may be used once: challenge nonces, request nonces.
create table nonce_claim (
  scope text not null check (length(scope) between 1 and 64),
  key text not null check (length(key) between 1 and 512),
  expires_at timestamptz not null,
  primary key (scope, key)
);
create index nonce_claim_expiry on nonce_claim (expires_at);
insert into app_access values ('nonce_claim', 'select, insert, delete');

-- Which process does a job at the moment. The token grows with each holder and fences off the ones before.
create table job_lease (
  name text primary key,
  owner text not null,
  token bigint not null,
  expires_at timestamptz not null
);
insert into app_access values ('job_lease', 'select, insert, update');
