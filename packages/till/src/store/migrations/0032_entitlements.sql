-- A call that used a pass or credit in place of a payment, from the hold to its end.
create table entitled_call (
  id text primary key,
  port text not null,
  account text not null check (account ~ '^0x[0-9a-f]{40}$'),
  -- What is drawn on: a pass, or credit on one network.
  subject text not null,
  amount bigint not null check (amount >= 0),
  route_id text not null,
  fingerprint text not null,
  -- Its effect sends the money on, so what is captured goes into clearing first.
  to_clearing boolean not null,
  idempotency_key text check (length(idempotency_key) between 1 and 128),
  state text not null check (state in ('held','captured','released')),
  held_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- Given again for the same key and request.
  status integer,
  content_type text,
  headers jsonb,
  body bytea
);
create unique index entitled_call_key on entitled_call (port, account, idempotency_key)
  where idempotency_key is not null and state <> 'released';
create index entitled_call_held on entitled_call (expires_at) where state = 'held';
insert into app_access values ('entitled_call', 'select, insert, update');
