-- Who sends with a wallet at the moment. The token grows with each holder and fences off the ones before.
create table settlement_lane (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Key of the advisory lock its process holds for life: without the lock the lane is free, however long the lease runs.
  holder bigint not null,
  token bigint not null check (token > 0),
  expires_at timestamptz not null,
  -- Another process waits for this wallet until then.
  wanted_until timestamptz,
  primary key (network, wallet)
);
insert into app_access values ('settlement_lane', 'select, insert, update');

-- Every transaction we sign, written before it is broadcast. One row per nonce: a replacement by fee, or the empty
-- transfer that fills a nonce nobody needs any more, takes the place of what it replaces and keeps its hash.
create table settlement_transaction (
  network text not null,
  wallet text not null,
  nonce bigint not null check (nonce >= 0),
  token bigint not null,
  purpose text not null check (length(purpose) between 1 and 32),
  -- The payments (or payouts) it carries.
  reference_ids text[] not null,
  -- signed: perhaps never sent. broadcast: a node has taken it. superseded: its nonce was used by something else.
  -- abandoned: refused by all nodes, the nonce is still free.
  state text not null check (state in ('signed','broadcast','mined','superseded','abandoned')),
  hash text not null check (hash ~ '^0x[0-9a-f]{64}$'),
  earlier_hashes text[] not null default '{}',
  raw bytea not null,
  max_fee_wei numeric(38,0) not null,
  priority_fee_wei numeric(38,0) not null,
  -- Unix seconds after which it could only fail.
  useful_until bigint,
  signed_at timestamptz not null,
  broadcast_at timestamptz,
  ended_at timestamptz,
  -- As mined.
  mined_hash text,
  block_number bigint,
  succeeded boolean,
  gas_used bigint,
  cost_wei numeric(38,0),
  primary key (network, wallet, nonce),
  check ((state = 'mined') = (mined_hash is not null))
);
create unique index settlement_transaction_hash on settlement_transaction (network, hash);
create index settlement_transaction_unfinished on settlement_transaction (network, wallet, nonce)
  where state in ('signed','broadcast');
insert into app_access values ('settlement_transaction', 'select, insert, update');

-- What a facilitator that charges per settlement did in a month: its free allowance is counted from here.
create table facilitator_usage (
  facilitator text not null,
  month date not null check (extract(day from month) = 1),
  settled bigint not null check (settled >= 0),
  primary key (facilitator, month)
);
insert into app_access values ('facilitator_usage', 'select, insert, update');

-- What outside users of our own facilitator did per hour, by payer and by address.
create table facilitator_budget (
  hour timestamptz not null,
  scope text not null check (scope in ('payer','address')),
  key text not null check (length(key) between 1 and 100),
  settles integer not null,
  gas_gwei bigint not null default 0,
  primary key (hour, scope, key)
);
