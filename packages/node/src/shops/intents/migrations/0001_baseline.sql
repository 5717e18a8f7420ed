-- A stretch of time whose demand was counted and published. One row each, whichever process closed it.
create table intent_bucket (
  starts_at timestamptz primary key,
  ends_at timestamptz not null check (ends_at > starts_at),
  -- The event that says it is closed: the last one of the bucket.
  seq bigint not null unique,
  synthetic boolean not null,
  closed_at timestamptz not null
);
create index intent_bucket_end on intent_bucket (ends_at);
insert into app_access values ('intent_bucket', 'select, insert');
create trigger intent_bucket_is_fixed before update or delete or truncate on intent_bucket
  for each statement execute function refuse_change();

-- What the stream said, in its order and without holes: anyone who comes back names the last number it saw.
create table intent_event (
  seq bigint not null check (seq > 0),
  -- Null for the event that closes a bucket.
  cluster text,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  demand integer check (demand >= 0),
  bonded integer check (bonded between 0 and demand),
  -- 95 % of such figures are at most so many agents from the truth.
  error double precision check (error >= 0),
  -- Smoothed demand after this bucket, from published values only.
  ewma double precision,
  synthetic boolean not null,
  -- The signed CloudEvent, byte for byte as it is sent.
  event text not null,
  published_at timestamptz not null,
  primary key (seq, ends_at)
) partition by range (ends_at);
create index intent_event_cluster on intent_event (cluster, ends_at desc) where cluster is not null;
create index intent_event_end on intent_event (ends_at);
insert into app_access values ('intent_event', 'select, insert');
create trigger intent_event_is_fixed before update or delete or truncate on intent_event
  for each statement execute function refuse_change();
create table intent_event_rest partition of intent_event default;
create trigger append_only before update or delete or truncate on intent_event_rest
  for each statement execute function refuse_change();
-- The newest one stays, however old it is: the next number follows it.
insert into partitioned_table (table_name, key, days, keep_days, least_days, needed_by, append_only) values
  ('intent_event', 'time', 91, 730, 400, $$select from intent_event where seq = (select max(seq) from intent_event)
    and ends_at >= $1::timestamptz and ends_at < $2::timestamptz$$, true);

-- What the published figures of a day have revealed about any one agent, in millionths of epsilon.
create table intent_budget (
  day date primary key,
  spent_micro bigint not null check (spent_micro >= 0),
  cap_micro bigint not null check (cap_micro > 0),
  check (spent_micro <= cap_micro)
);
insert into app_access values ('intent_budget', 'select, insert, update');

-- How a day was cut, decided from what the day before published: the same for every process.
create table intent_plan (
  day date primary key,
  bucket_ms bigint not null check (bucket_ms > 0),
  tiers integer not null check (tiers > 0)
);
insert into app_access values ('intent_plan', 'select, insert');

-- Searches that a wallet paid for, by day: an agent counts as bonded when it has spent enough within a week.
create table intent_spend (
  day date not null,
  payer text not null,
  searches bigint not null check (searches > 0),
  primary key (payer, day)
);
create index intent_spend_day on intent_spend (day);
insert into app_access values ('intent_spend', 'select, insert, update, delete');

-- How far a message broker has been notified; the rows themselves are the truth.
create table intent_announced (
  carrier text primary key,
  seq bigint not null check (seq >= 0)
);

-- What peers of the mesh published of their demand and signed, as far as this node is configured to read it.
create table intent_peer_event (
  did text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  -- Noisy demand by cluster, as the peer published it.
  counts jsonb not null,
  -- The signed CloudEvent, byte for byte as it was received.
  event text not null,
  taken_at timestamptz not null,
  primary key (did, ends_at)
);
