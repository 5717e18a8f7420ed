-- A creator's share of one sale. It waits for a proof of the domain, then accrues, then is part of a root on chain.
create table creator_accrual (
  id bigint generated always as identity primary key,
  -- The attestation, claim or remittance, and the place among its sources.
  subject text not null,
  place smallint not null default 0,
  payment_id text not null,
  -- Times a reorg undid the payment before.
  round integer not null default 0,
  -- Money of a credit has no transaction of its own: it is final once a block of after the call is.
  source text not null check (source in ('payment', 'credit')),
  payer text not null,
  network text not null,
  domain text not null,
  registrable text not null,
  wallet text check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Which of the creator's accounts holds it: several, so that sales of one creator do not queue up.
  shard smallint not null check (shard between 0 and 7),
  micro bigint not null check (micro <> 0),
  state text not null check (state in ('waiting', 'accrued', 'committing', 'committed', 'reversed', 'expired')),
  held_until timestamptz,
  held_reason text,
  root_id bigint,
  created_at timestamptz not null,
  released_at timestamptz,
  check (state in ('waiting', 'reversed', 'expired') or wallet is not null),
  unique (subject, place, round)
);
create index creator_accrual_open on creator_accrual (network, id) where state = 'accrued';
create index creator_accrual_waiting on creator_accrual (registrable, created_at) where state = 'waiting';
create index creator_accrual_by_wallet on creator_accrual (wallet, id desc);
create index creator_accrual_by_payment on creator_accrual (payment_id);
create index creator_accrual_by_root on creator_accrual (root_id) where root_id is not null;

-- What each creator has in the root on chain, and in the one that is on its way.
create table creator_balance (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  committed_micro bigint not null default 0 check (committed_micro >= 0),
  pending_micro bigint not null default 0 check (pending_micro >= committed_micro),
  claimed_micro bigint not null default 0 check (claimed_micro between 0 and committed_micro),
  primary key (network, wallet)
);

create table creator_setting (
  wallet text primary key check (wallet ~ '^0x[0-9a-f]{40}$'),
  threshold_micro bigint not null check (threshold_micro > 0),
  updated_at timestamptz not null
);

-- Roots, one at a time per chain. signed: may land at any moment. committed: in a final block. abandoned: provably never.
create table creator_root (
  id bigint generated always as identity primary key,
  network text not null,
  contract text not null,
  epoch bigint not null,
  root bytea not null check (octet_length(root) = 32),
  total_micro bigint not null,
  increase_micro bigint not null check (increase_micro > 0),
  creators integer not null,
  valid_before bigint not null,
  head_block bigint not null,
  signature bytea not null,
  state text not null check (state in ('signed', 'committed', 'abandoned')),
  transaction text,
  block_number bigint,
  signed_at timestamptz not null,
  ended_at timestamptz
);
create unique index creator_root_open on creator_root (network) where state = 'signed';
create unique index creator_root_epoch on creator_root (network, contract, epoch) where state = 'committed';

-- What a creator had earned in all when the root of an epoch was made; only those who earned something in it.
create table creator_leaf (
  root_id bigint not null references creator_root,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  cumulative_micro bigint not null check (cumulative_micro > 0),
  primary key (root_id, wallet)
);

create table creator_claim (
  network text not null,
  transaction text not null,
  log_index integer not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  amount_micro bigint not null check (amount_micro > 0),
  cumulative_micro bigint not null,
  block_number bigint not null,
  claimed_at timestamptz not null,
  primary key (network, transaction, log_index)
);
create index creator_claim_by_wallet on creator_claim (wallet, block_number desc);

-- Up to which final block the claims on a contract are in the books.
create table creator_cursor (
  network text not null,
  contract text not null,
  block_number bigint not null,
  primary key (network, contract)
);
