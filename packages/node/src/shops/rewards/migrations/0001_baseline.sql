-- One row per wallet that ever paid for something. Points and money are in the ledger; here is what the rules need.
-- Updated in place, as long as a page has room.
create table loyalty (
  wallet text primary key check (octet_length(wallet) = 42 and starts_with(wallet, '0x')),
  -- What the node itself kept of this wallet's purchases.
  spent_micro bigint not null check (spent_micro >= 0),
  sales integer not null check (sales >= 0),
  first_sale_at timestamptz not null,
  -- Points or shares that were reversed after they were used: what comes in next is set off.
  owes boolean not null default false,
  -- The last affiliate that brought this wallet.
  affiliate text check (octet_length(affiliate) = 42 and starts_with(affiliate, '0x')),
  affiliate_at timestamptz,
  -- Why the last one that was named does not count.
  affiliate_note text
) with (fillfactor = 50);

-- Whose referral a wallet is: decided once, with its first sale.
create table referral (
  wallet text primary key check (wallet ~ '^0x[0-9a-f]{40}$'),
  referrer text not null check (referrer ~ '^0x[0-9a-f]{40}$'),
  -- counted, or why not.
  status text not null check (status in ('counted','ignored','reversed')),
  reason text,
  payment_id text collate "C" not null,
  decided_at timestamptz not null
);
create index referral_referrer on referral (referrer);

-- What each sale brought to whom. Unique per settlement; a payment that lands again after a reorg is another round.
create table reward_sale (
  payment_id text collate "C" not null,
  payer text not null,
  network text not null,
  route_id text not null,
  affiliate text,
  affiliate_note text,
  referrer text,
  -- none, pending (held), payable, reversed
  affiliate_state text not null default 'none' check (affiliate_state in ('none','pending','payable','reversed')),
  -- Above the limit up to which inclusion is enough: its points can be used once the payment is final.
  needs_finality boolean not null default false,
  -- Columns of one length come one after the other: between others a row has gaps.
  round integer not null default 0,
  -- 15 % then stays 15 %, whatever the rate is later.
  affiliate_bps integer not null default 0,
  -- What the node itself kept, and the part of it that was given back since.
  take_micro bigint not null check (take_micro >= 0),
  reversed_micro bigint not null default 0 check (reversed_micro between 0 and take_micro),
  points bigint not null check (points >= 0),
  affiliate_micro bigint not null default 0 check (affiliate_micro >= 0),
  referrer_points bigint not null default 0,
  referred_points bigint not null default 0,
  matures_at timestamptz,
  sold_at timestamptz not null,
  primary key (payment_id, round)
);
create index reward_sale_affiliate on reward_sale (affiliate, sold_at) where affiliate is not null;
create index reward_sale_maturing on reward_sale (matures_at) where affiliate_state = 'pending';
create index reward_sale_waiting on reward_sale (payer) where needs_finality;
-- A contract wallet redeems on a chain on which it bought, and status pages ask by payer.
create index reward_sale_payer on reward_sale (payer, network);

-- Requests that carried `ref`, for wallets that paid once: a name that anybody can make up gets no row.
create table referral_visit (
  referrer text primary key references loyalty (wallet),
  visits bigint not null
);

-- One redemption per server nonce; the same request again finds its first result here.
create table redemption (
  nonce text primary key check (nonce ~ '^[0-9a-f]{32}$'),
  request_hash bytea not null check (octet_length(request_hash) = 32),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  points bigint not null check (points > 0),
  reward text not null,
  pass_id text not null,
  balance_after bigint not null,
  redeemed_at timestamptz not null
);
create index redemption_wallet on redemption (wallet, redeemed_at);

create table pass (
  id text primary key,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  reward text not null,
  calls integer not null check (calls > 0),
  -- Held and captured calls; never more than `calls`.
  used integer not null default 0,
  max_price_micro bigint not null,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  made_at timestamptz not null,
  expires_at timestamptz not null,
  token_secret integer not null references token_secret (version),
  constraint pass_not_overused check (used between 0 and calls)
);
create index pass_wallet on pass (wallet, made_at);

-- What affiliates are owed is a cost of the operator's, beside the price.
insert into ledger_purpose (purpose, backed_by, is_cost, paid_out) values
  ('affiliate', 'operator', true, true), ('affiliate_pending', 'operator', true, false);
