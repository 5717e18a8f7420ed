-- What each wallet paid, folded from payments in their order; the rating is made from it when somebody asks.
create table agent_rating (
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  network text not null,
  settled bigint not null check (settled >= 0),
  settled_micro bigint not null check (settled_micro >= 0),
  failed bigint not null check (failed >= 0),
  reversed bigint not null check (reversed >= 0),
  refunded bigint not null check (refunded >= 0),
  -- Paid to a source that nobody has proven: it may be the payer's own.
  unattributed bigint not null check (unattributed >= 0),
  -- Money that went round in one house.
  self_dealt bigint not null check (self_dealt >= 0),
  active_days integer not null check (active_days >= 0),
  last_day date,
  first_at timestamptz not null,
  last_at timestamptz not null,
  counts_since timestamptz,
  primary key (wallet, network)
);

-- Whom it paid. The weight of past days is closed; the newest day is still counted.
create table agent_rating_party (
  wallet text not null,
  network text not null,
  party text not null check (party ~ '^0x[0-9a-f]{40}$'),
  settled bigint not null check (settled >= 0),
  micro bigint not null check (micro >= 0),
  weight double precision not null check (weight >= 0),
  day date not null,
  day_count integer not null check (day_count >= 0),
  primary key (wallet, network, party)
);

-- Sales that a reorg or a refund undid. `counted`: the fold had passed the sale by then.
create table rating_reversal (
  id bigint generated always as identity primary key,
  payment_id text not null,
  wallet text not null,
  network text not null,
  reason text not null check (reason in ('reorg', 'refund')),
  micro bigint not null check (micro > 0),
  whole boolean not null,
  counted boolean not null,
  reversed_at timestamptz not null
);
create index rating_reversal_by_wallet on rating_reversal (wallet, id);
insert into app_access values ('rating_reversal', 'select, insert');

-- How far payments, draws of credit and reversals are folded.
create table rating_cursor (
  only_one boolean primary key default true check (only_one),
  payment_at timestamptz not null default 'epoch',
  payment_payer text not null default '',
  payment_id text not null default '',
  draw_at timestamptz not null default 'epoch',
  draw_account text not null default '',
  draw_id text not null default '',
  reversal_id bigint not null default 0
);
insert into rating_cursor default values;

-- In the order of their end, with the payer in it: what one wallet did since the fold is found without touching rows of others.
create index payment_ended on payment (ended_at, payer, id) where ended_at is not null;
create index entitled_call_drawn on entitled_call (ended_at, account, id) where port = 'credit' and state = 'captured';
create index source_claim_by_wallet on source_claim (wallet);
