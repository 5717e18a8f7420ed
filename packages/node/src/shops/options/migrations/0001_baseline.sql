-- Published figures that moved an index, kept for as long as somebody may want to replay a settlement.
create table option_input (
  ends_at timestamptz not null,
  cluster text not null,
  starts_at timestamptz not null,
  bonded integer,
  event_id text not null,
  synthetic boolean not null,
  primary key (ends_at, cluster)
);
insert into app_access values ('option_input', 'select, insert, delete');

-- The share of demand at which the index of a cluster is 100, and the tick it was read from.
create table option_cluster (
  cluster text primary key,
  base_share_e12 bigint not null check (base_share_e12 > 0),
  base_at timestamptz not null
);
insert into app_access values ('option_cluster', 'select, insert');

create table option_tick (
  cluster text not null,
  at timestamptz not null,
  share_e12 bigint not null,
  value_e4 bigint not null,
  agents integer,
  -- Ticks of an index belong to the method they were made by, and a series keeps the method it was listed under: what an
  -- operator sets later makes another index beside it. Written as `tick:half-life`, both in milliseconds; empty for what is
  -- older than this column and goes by the settings in force.
  method text not null default '',
  primary key (method, cluster, at)
);
create index option_tick_time on option_tick (at);
insert into app_access values ('option_tick', 'select, insert, delete');

-- All values of one moment, signed together.
create table option_tick_proof (
  at timestamptz not null,
  jws text not null,
  method text not null default '',
  primary key (method, at)
);
insert into app_access values ('option_tick_proof', 'select, insert, delete');

create table option_series (
  symbol text primary key check (length(symbol) <= 64),
  cluster text not null references option_cluster (cluster),
  kind text not null check (kind in ('C', 'P')),
  strike integer not null check (strike > 0),
  width integer not null check (width > 0),
  size_micro bigint not null check (size_micro > 0),
  cap_micro bigint not null check (cap_micro = width * size_micro),
  listed_at timestamptz not null,
  last_trade_at timestamptz not null,
  expires_at timestamptz not null,
  -- trading: until it is settled. settling: its value is fixed and everybody's part is being paid. ended: nothing is left.
  state text not null check (state in ('trading', 'settling', 'ended')),
  -- Counts the changes of its book: anyone who holds a copy of the book knows by it whether the copy is the newest.
  seq bigint not null default 0,
  -- Contracts that are reserved or sold.
  sold integer not null default 0 check (sold >= 0),
  interest_limit_micro bigint not null,
  volatility double precision not null,
  -- Of one contract by the model, in the last pricing; null where it left the band, and then the vault writes none.
  model_micro bigint,
  priced_at timestamptz not null,
  -- The tick that the last pricing went by; null before the first one.
  priced_tick_at timestamptz,
  priced_index_e4 bigint,
  synthetic boolean not null,
  -- How a series is settled is part of what was sold: it stays as it was when the series was listed, whatever is set later.
  window_ms bigint check (window_ms > 0),
  agents_min integer check (agents_min > 0),
  extensions_max integer check (extensions_max >= 0),
  method text not null default '',
  check (last_trade_at <= expires_at)
);
create index option_series_open on option_series (expires_at) where state <> 'ended';
create index option_series_cluster on option_series (cluster, expires_at);
insert into app_access values ('option_series', 'select, insert, update');

-- A writer's offer. Its whole collateral less the premium is in the account of the series from the first moment on.
create table option_order (
  id text primary key,
  symbol text not null references option_series (symbol),
  writer text not null check (writer ~ '^0x[0-9a-f]{40}$'),
  payment_id text collate "C" not null unique,
  price_micro bigint not null check (price_micro > 0),
  quantity integer not null check (quantity > 0),
  -- Neither sold nor reserved nor withdrawn.
  open_quantity integer not null check (open_quantity between 0 and quantity),
  -- What no order to buy takes when it enters the book goes back at once.
  immediate boolean not null default false,
  -- pending: its money is not final, so nothing is sold on it. live: in the book. closed: nothing of it is open any more.
  state text not null check (state in ('pending', 'live', 'closed', 'revoked')),
  seq bigint,
  created_at timestamptz not null,
  check (state not in ('closed', 'revoked') or open_quantity = 0)
);
create index option_order_book on option_order (symbol, price_micro, seq) where open_quantity > 0;
create index option_order_writer on option_order (writer, created_at);
create index option_order_pending on option_order (created_at) where state = 'pending';
insert into app_access values ('option_order', 'select, insert, update');

-- An order to buy at a limit. Its whole limit is in the account of the orders of the series from the first moment on.
create table option_bid (
  id text primary key,
  symbol text not null references option_series (symbol),
  bidder text not null check (bidder ~ '^0x[0-9a-f]{40}$'),
  payment_id text collate "C" not null unique,
  price_micro bigint not null check (price_micro > 0),
  quantity integer not null check (quantity > 0),
  -- Neither bought nor withdrawn.
  open_quantity integer not null check (open_quantity between 0 and quantity),
  -- What is not bought when it enters the book goes back at once.
  immediate boolean not null,
  state text not null check (state in ('pending', 'live', 'closed', 'revoked')),
  seq bigint,
  created_at timestamptz not null,
  check (state not in ('closed', 'revoked') or open_quantity = 0)
);
create index option_bid_book on option_bid (symbol, price_micro desc, seq) where open_quantity > 0;
create index option_bid_bidder on option_bid (bidder, created_at);
create index option_bid_pending on option_bid (created_at) where state = 'pending';
insert into app_access values ('option_bid', 'select, insert, update');

-- Contracts of one buyer, from the reservation on.
create table option_position (
  id text primary key,
  symbol text not null references option_series (symbol),
  holder text not null check (holder ~ '^0x[0-9a-f]{40}$'),
  payment_id text collate "C" not null,
  -- Less what was sold back.
  quantity integer not null check (quantity >= 0),
  -- What was shown, agreed to and paid for these; the writers get all of it.
  premium_micro bigint not null check (premium_micro >= 0),
  -- Locked by the operator's vault for its part.
  vault_micro bigint not null default 0 check (vault_micro >= 0),
  -- held: reserved, the money is on its way. released: it never came in time. open: bought. revoked: a reorg took the money.
  -- closed: all of it was sold back.
  state text not null check (state in ('held', 'released', 'open', 'closed', 'revoked', 'settled', 'voided')),
  reserved_at timestamptz not null,
  held_until timestamptz not null,
  opened_at timestamptz,
  ended_at timestamptz,
  payout_micro bigint check (payout_micro >= 0),
  -- The holder's order to sell contracts of it at a limit, which waits in the book; it has no more than the position.
  sell_micro bigint check (sell_micro > 0),
  sell_quantity integer check (sell_quantity > 0),
  sell_seq bigint,
  sell_at timestamptz,
  check (num_nonnulls(sell_micro, sell_quantity, sell_seq, sell_at) in (0, 4)),
  check ((state in ('open', 'closed', 'settled', 'voided')) = (opened_at is not null) or state = 'revoked'),
  check ((quantity = 0) = (state = 'closed'))
);
create unique index option_position_payment on option_position (payment_id) where state <> 'released';
create index option_position_series on option_position (symbol, state);
create index option_position_holder on option_position (holder, reserved_at desc);
create index option_position_held on option_position (held_until) where state = 'held';
create index option_position_sell on option_position (symbol, sell_micro, sell_seq) where sell_micro is not null and state = 'open';
create index option_position_open on option_position (symbol, holder) where state in ('held', 'open');
insert into app_access values ('option_position', 'select, insert, update');

create table option_fill (
  position_id text not null references option_position (id),
  place integer not null,
  -- Null: written by the vault.
  order_id text references option_order (id),
  writer text not null,
  quantity integer not null check (quantity >= 0),
  price_micro bigint not null check (price_micro > 0),
  -- What the holder paid for one: the writer's price, or that at which an earlier holder sold it.
  paid_micro bigint not null check (paid_micro > 0),
  primary key (position_id, place)
);
create index option_fill_order on option_fill (order_id) where order_id is not null;
insert into app_access values ('option_fill', 'select, insert, update');

-- Contracts that a holder sold: back to the vault, each of its bids once, or to orders of the book.
create table option_close (
  bid_id text primary key,
  to_vault boolean not null,
  position_id text not null references option_position (id),
  quantity integer not null check (quantity > 0),
  -- What their writers had been promised for them, what the holder had paid, and what it sold them for.
  written_micro bigint not null check (written_micro > 0),
  premium_micro bigint not null check (premium_micro > 0),
  paid_micro bigint not null check (paid_micro > 0),
  closed_at timestamptz not null
);
create index option_close_position on option_close (position_id);
insert into app_access values ('option_close', 'select, insert');

-- What anyone who left contracts early gets at the end of the series, beside what was paid at once: one or the other.
create table option_claim (
  id text primary key,
  symbol text not null references option_series (symbol),
  wallet text not null,
  if_fixed_micro bigint not null check (if_fixed_micro >= 0),
  if_void_micro bigint not null check (if_void_micro >= 0),
  ended_at timestamptz
);
create index option_claim_open on option_claim (symbol) where ended_at is null;
insert into app_access values ('option_claim', 'select, insert, update');

-- The operator's own capital as last writer. The check is its hard limit.
create table option_vault (
  singleton boolean primary key default true check (singleton),
  limit_micro bigint not null default 0 check (limit_micro >= 0),
  used_micro bigint not null default 0 check (used_micro >= 0)
);
insert into app_access values ('option_vault', 'select, update');
insert into option_vault default values;
insert into pause (name, stops, leaves_running) values
  ('options', 'quotes, buying and writing', 'withdrawing, closing and settling: they are owed');

-- What happened to a series, in the order in which it happened.
create sequence option_event_number;
create table option_event (
  id bigint primary key default time_number(nextval('option_event_number')),
  symbol text not null,
  at timestamptz not null,
  kind text not null check (kind in ('listed', 'offered', 'bid', 'reserved', 'released', 'sold', 'asked', 'closed', 'withdrawn', 'revoked', 'fixed',
    'voided', 'settled', 'ended')),
  subject text not null,
  quantity integer,
  price_micro bigint
) partition by range (id);
create index option_event_series on option_event (symbol, id);
create table option_event_rest partition of option_event default;
insert into partitioned_table (table_name, key, days, keep_days, least_days, append_only) values
  ('option_event', 'number', 91, 730, 400, false);
insert into app_access values ('option_event', 'select, insert');

create table option_settlement (
  symbol text primary key references option_series (symbol),
  outcome text not null check (outcome in ('fixed', 'void')),
  value_e4 bigint,
  -- Of one contract.
  payoff_micro bigint,
  reason text,
  document jsonb not null,
  jws text not null,
  decided_at timestamptz not null,
  check ((outcome = 'fixed') = (value_e4 is not null and payoff_micro is not null))
);
create index option_settlement_time on option_settlement (decided_at desc, symbol);
insert into app_access values ('option_settlement', 'select, insert');

-- Bought from credit, so what somebody got too much of is set off with credit.
insert into ledger_purpose (purpose, paid_out, debt_purpose) values ('option', true, 'credit');
