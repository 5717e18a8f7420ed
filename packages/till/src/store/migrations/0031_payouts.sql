-- Money we decided to send. The debt is off the books of its owner from the first row on, and in clearing until the
-- transfer is final. Each payout is one EIP-3009 authorization of the custody wallet whose nonce follows from the id, so
-- the token itself refuses a second transfer, whatever is sent how often.
create table payout (
  id text primary key,
  network text not null,
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  amount_micro bigint not null check (amount_micro > 0),
  purpose text not null check (purpose ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- What it is for, where there is one thing: the refunded payment.
  subject text,
  -- The account the debt was taken from, and goes back to if the transfer can never happen. Null: it is our own money.
  source_account text,
  -- waiting: a person must approve. queued: to be signed. signed: its bytes exist and may be on the chain at any time.
  -- parked: the payee cannot receive at the moment. paid: final. returned: provably never happened, the debt is back.
  state text not null check (state in ('waiting','queued','signed','parked','paid','returned')),
  reason text,
  payer text check (payer ~ '^0x[0-9a-f]{40}$'),
  nonce bytea check (octet_length(nonce) = 32),
  valid_before bigint,
  signature bytea,
  head_block bigint,
  transaction text,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null,
  approved_by text,
  signed_at timestamptz,
  ended_at timestamptz,
  check ((state in ('waiting','queued')) or (nonce is not null and signature is not null and valid_before is not null))
);
create unique index payout_authorization on payout (network, payer, nonce);
-- One open payout per payee and purpose: what accrues meanwhile waits for the next.
create unique index payout_open on payout (network, purpose, payee)
  where subject is null and state in ('waiting','queued','signed','parked');
create unique index payout_subject on payout (purpose, subject) where subject is not null and state <> 'returned';
create index payout_unfinished on payout (network, created_at) where state in ('waiting','queued','signed','parked');
create index payout_payee on payout (payee, created_at);
create index payout_signed_time on payout (network, signed_at) where signed_at is not null;
insert into app_access values ('payout', 'select, insert, update');

-- Payees that are left out until a person says otherwise.
create table payout_hold (
  network text not null,
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  reason text not null,
  held_by text not null,
  held_at timestamptz not null default now(),
  primary key (network, payee)
);

-- One refund per payment, ever.
create table refund (
  payment_id text primary key references payment (id),
  amount_micro bigint not null check (amount_micro > 0),
  reason text not null check (length(reason) between 1 and 300),
  requested_by text not null,
  requested_at timestamptz not null default now(),
  -- asked: a running node carries it out. paying: it is a payout. refused: why stands in the outcome.
  state text not null default 'asked' check (state in ('asked','paying','refused')),
  outcome text,
  payout_id text references payout (id),
  decided_at timestamptz
);
create index refund_asked on refund (requested_at) where state = 'asked';
insert into app_access values ('refund', 'select, insert, update');
