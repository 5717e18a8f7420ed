-- Every period that was bought. What a wallet may use follows from its rows that were not taken back, in their order.
create table subscription_purchase (
  payment_id text not null,
  -- The same payment may land again after a reorg: another row.
  round integer not null default 0,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  tier text not null check (tier in ('standard','vip')),
  network text not null,
  -- Both prices of the moment: later changes do not touch what was bought.
  standard_micro bigint not null check (standard_micro > 0),
  vip_micro bigint not null check (vip_micro >= standard_micro),
  bought_at timestamptz not null,
  revoked_at timestamptz,
  primary key (payment_id, round)
);
create index subscription_purchase_wallet on subscription_purchase (wallet, bought_at);

-- The outcome of those rows, one per wallet, and the token that opens it.
create table subscription (
  wallet text primary key check (wallet ~ '^0x[0-9a-f]{40}$'),
  tier text not null check (tier in ('standard','vip')),
  from_at timestamptz not null,
  until_at timestamptz not null,
  token_version integer not null default 1 check (token_version > 0),
  token_key_id text not null,
  -- Null after it was revoked.
  token_hash bytea unique check (octet_length(token_hash) = 32),
  changed_at timestamptz not null
);
create index subscription_until on subscription (until_at);

-- Hashes of tokens that no longer open anything, so that their holder learns why.
create table subscription_old_token (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  wallet text not null,
  ended_at timestamptz not null
);

-- Pulls of the current minute and day, for the published fair-use limits.
create unlogged table subscription_usage (
  wallet text not null,
  span text not null check (span in ('minute','day')),
  began_at timestamptz not null,
  used integer not null check (used >= 0),
  primary key (wallet, span)
);
