-- What the owner of credit allowed somebody else to draw from it: signed once (EIP-712), then only counted and revoked.
create table mandate (
  id text primary key check (id ~ '^mdt_[0-9a-f]{40}$'),
  owner text not null check (owner ~ '^0x[0-9a-f]{40}$'),
  delegate text not null check (delegate ~ '^0x[0-9a-f]{40}$' and delegate <> owner),
  -- Where it was signed. A contract wallet may belong to somebody else on another chain, so its credit there is not meant.
  chain_id bigint not null check (chain_id > 0),
  owner_kind text not null check (owner_kind in ('key', 'contract')),
  routes text[] not null check (array_length(routes, 1) between 1 and 32),
  cap_call_micro bigint not null check (cap_call_micro > 0),
  cap_day_micro bigint not null check (cap_day_micro >= cap_call_micro),
  cap_total_micro bigint not null check (cap_total_micro >= cap_day_micro),
  valid_until timestamptz not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  signature bytea not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  -- The UTC day that day_micro counts. It never goes back, whatever the clock of a process says.
  day date not null default '1970-01-01',
  day_micro bigint not null default 0,
  total_micro bigint not null default 0,
  constraint mandate_within_day check (day_micro between 0 and cap_day_micro),
  constraint mandate_within_total check (total_micro between 0 and cap_total_micro)
);
-- One mandate per number of the owner's own: of two versions of a text only one can ever count.
create unique index mandate_nonce on mandate (owner, nonce);
create index mandate_owner on mandate (owner, created_at);
create index mandate_delegate on mandate (delegate, created_at);
insert into app_access values ('mandate', 'select, insert, update');

-- What was signed stays as it was signed.
create trigger mandate_terms_fixed
  before update of id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro,
    valid_until, nonce, signature, created_at on mandate
  for each statement execute function refuse_change();

-- A draw under a mandate knows it, and the day it was counted for: a void gives both back.
alter table entitled_call add column mandate_id text, add column mandate_day date;
create index entitled_call_mandate on entitled_call (mandate_id, held_at) where mandate_id is not null;
