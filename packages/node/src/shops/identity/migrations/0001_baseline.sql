-- What each wallet paid, aggregated from payments in their order; the rating is computed from it on request.
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
  -- Money that circulated within one cluster.
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

-- Sales that a reorg or a refund undid. `counted`: the aggregation had passed the sale by then.
create table rating_reversal (
  id bigint generated always as identity primary key,
  payment_id text collate "C" not null,
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

-- How far payments, draws of credit and reversals are aggregated.
create table rating_cursor (
  only_one boolean primary key default true check (only_one),
  payment_at timestamptz not null default 'epoch',
  payment_payer text not null default '',
  payment_id text collate "C" not null default '',
  draw_at timestamptz not null default 'epoch',
  draw_account text not null default '',
  draw_id text not null default '',
  reversal_id bigint not null default 0
);
insert into rating_cursor default values;

-- What an agent says of itself. The subject is a wallet, or one account of a contract wallet with its chain.
create table agent (
  subject text primary key check (subject ~ '^(eip155:[1-9][0-9]{0,14}:)?0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  version integer not null check (version >= 0),
  -- Lower bound of the rating when it was last computed, for lists.
  score smallint check (score between 0 and 100),
  -- The network address or the node that it first came from, for a day.
  submitted_by text check (length(submitted_by) <= 300),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deactivated_at timestamptz
);
create index agent_by_wallet on agent (wallet);
create index agent_submitted on agent (submitted_by, created_at) where submitted_by is not null;
create index agent_submitted_by_time on agent (created_at) where submitted_by is not null;
create index agent_by_score on agent ((-coalesce(score, -1)), subject) where deactivated_at is null;

-- What was declared, as it was declared; a version ends some time after another one replaced it.
create table agent_version (
  subject text not null references agent,
  version integer not null check (version > 0),
  document jsonb not null,
  -- Which account signed it, in CAIP-10.
  signer text not null,
  declared_at timestamptz not null,
  primary key (subject, version)
);
create index agent_version_by_time on agent_version (declared_at);
insert into app_access values ('agent_version', 'select, insert, delete');
create trigger agent_version_is_fixed before update on agent_version
  for each row execute function refuse_change();

-- The newest declaration that its wallet signed for every node, as it was signed.
create table agent_signed (
  subject text primary key references agent,
  sequence bigint not null check (sequence > 0),
  version integer not null,
  document text not null check (length(document) <= 65536),
  received_at timestamptz not null
);
create index agent_signed_received on agent_signed (received_at);

-- The newest version, by what it offers.
create table agent_capability (
  capability text not null check (length(capability) between 1 and 64),
  subject text not null references agent,
  primary key (capability, subject)
);
create index agent_capability_by_subject on agent_capability (subject);

insert into personal_data (place, what, erase) values
  ('agent.submitted_by', 'network address that a declaration came from', $$update agent set submitted_by = null,
    deactivated_at = coalesce(deactivated_at, now()) where wallet = $1 and (submitted_by is not null or deactivated_at is null)$$),
  ('agent_capability.capability', 'what an agent offers', $$delete from agent_capability where subject in (
    select subject from agent where wallet = $1)$$),
  ('agent_version.document', 'what an agent says of itself', $$delete from agent_version where subject in (
    select subject from agent where wallet = $1)$$),
  ('agent_signed.document', 'what an agent signed of itself', $$delete from agent_signed where subject in (
    select subject from agent where wallet = $1)$$);
