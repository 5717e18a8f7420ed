-- A payment is one EIP-3009 authorization offered for one request. The row is written before any work is done.
create table payment (
  id text primary key,
  state text not null check (state in ('claimed','settling','unknown','settled','served','failed','released','credited','refunded')),
  -- what was paid with
  network text not null,
  asset text not null,
  payer text not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  pay_to text not null,
  payee text not null check (payee in ('pay_to','custody')),
  amount_micro bigint not null check (amount_micro > 0),
  valid_before bigint not null,
  -- what was bought
  route_id text not null,
  resource text not null,
  fingerprint bytea not null,
  identifier_hash bytea,
  ref text,
  aff text,
  revocable boolean not null,
  -- who works on it
  owner bigint not null,
  lease_until timestamptz not null,
  client_gone boolean not null default false,
  claimed_at timestamptz not null,
  -- how it went
  head_block bigint not null,
  transaction text,
  block_number bigint,
  block_hash text,
  log_index integer,
  reason text,
  provisional boolean not null default false,
  -- nothing about it can change any more: final on chain, or past its time and never used
  final boolean not null default false,
  -- how often its block was reorganised away
  reorgs integer not null default 0,
  intent_at timestamptz,
  settled_at timestamptz,
  ended_at timestamptz,
  delivered_at timestamptz
);

-- One authorization is claimed once, anywhere, for ever.
create unique index payment_authorization on payment (network, asset, payer, nonce);
-- One identifier names one purchase of a payer; a failed or released attempt does not use it up.
create unique index payment_identifier on payment (payer, identifier_hash)
  where identifier_hash is not null and state not in ('failed','released');
-- One transfer on chain explains one payment.
create unique index payment_transfer on payment (network, transaction, log_index) where log_index is not null;
create index payment_undelivered on payment (payer, fingerprint)
  where delivered_at is null and state in ('settling','unknown','settled','served');
create index payment_unfinished on payment (claimed_at) where state in ('claimed','settling','unknown','settled');
create index payment_watched on payment (network, valid_before) where state in ('failed','released') and not final;
create index payment_not_final on payment (network, block_number) where not final and state in ('settled','served','credited');

-- The prepared answer, stored before money is taken and given again to whoever proves to be the payer.
create table payment_answer (
  payment_id text primary key references payment (id),
  status integer not null,
  content_type text not null,
  headers jsonb not null default '{}',
  body bytea not null,
  reservation jsonb,
  payment_response text
);

-- What a payer has in flight, so that claims never exceed the balance read, whichever process takes them.
create table payer_flight (
  network text not null,
  payer text not null,
  in_flight integer not null check (in_flight >= 0),
  in_flight_micro bigint not null check (in_flight_micro >= 0),
  primary key (network, payer)
);

-- A process that works on payments. It is alive while its advisory lock is held.
create table payment_owner (
  owner bigint primary key,
  started_at timestamptz not null,
  dead_at timestamptz
);

-- What failed settlements cost, per day: the limits of loss are read from here.
create table settlement_loss (
  day date not null,
  scope text not null check (scope in ('payer','route')),
  key text not null,
  failures integer not null default 0,
  gas_gwei bigint not null default 0,
  primary key (day, scope, key)
);

-- Transfers to our addresses that no claim explains: credited when an authorization shows the payer, else for a person to look at.
create table inbound_review (
  network text not null,
  transaction text not null,
  log_index integer not null,
  block_number bigint not null,
  sender text not null,
  recipient text not null,
  amount_micro bigint not null,
  state text not null default 'open' check (state in ('open','credited','dismissed')),
  note text,
  seen_at timestamptz not null,
  primary key (network, transaction, log_index)
);

-- How far each address has been compared with the chain.
create table reconcile_cursor (
  network text not null,
  address text not null,
  block_number bigint not null,
  onchain_micro bigint not null,
  checked_at timestamptz not null,
  primary key (network, address)
);
