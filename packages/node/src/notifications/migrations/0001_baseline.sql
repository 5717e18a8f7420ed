-- The outbox: written in the transaction of what happened, delivered after it. Kept 90 days, 200,000 rows at most.
create table notification_event (
  id bigint generated always as identity primary key,
  topic text not null check (length(topic) between 3 and 60),
  subject text not null check (length(subject) between 1 and 200),
  -- The same event published twice is one event.
  key text not null check (length(key) between 1 and 200),
  payload jsonb not null check (pg_column_size(payload) <= 16384),
  at timestamptz not null,
  -- False once its deliveries are written, and from the start for what nobody waits for.
  fan_out boolean not null,
  unique (topic, subject, key)
);
create index notification_event_open on notification_event (id) where fan_out;

-- Where a wallet wants to be notified. Unverified ones are deleted after a day, paused ones after 90 days.
create table notification_endpoint (
  id text primary key,
  wallet text not null check (length(wallet) = 42),
  kind text not null check (kind in ('webhook', 'email')),
  target text not null check (length(target) between 3 and 2048),
  state text not null check (state in ('pending', 'active', 'paused')),
  reason text not null default '',
  -- Counts challenges; the code of each follows from it.
  challenge integer not null default 1,
  challenge_due boolean not null default true,
  code_tries integer not null default 0,
  failing_since timestamptz,
  -- Nothing is sent before: an endpoint that fails waits longer and longer, with all its deliveries.
  waits_until timestamptz not null default '-infinity',
  last_status text,
  last_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  unique (wallet, kind, target)
);
create index notification_endpoint_challenge on notification_endpoint (created_at) where challenge_due;

-- One row for each challenge sent, so that nobody is written to again and again. Kept a day.
create table notification_challenge (
  target text not null,
  at timestamptz not null
);
create index notification_challenge_target on notification_challenge (target, at);

create table notification_watch (
  id text primary key,
  wallet text not null,
  endpoint text not null references notification_endpoint on delete cascade,
  topic text not null,
  subject text not null,
  -- Beyond the free number: works while the wallet has a plan. Removed 30 days after it ended.
  paid boolean not null,
  created_at timestamptz not null,
  unique (endpoint, topic, subject)
);
create index notification_watch_subject on notification_watch (topic, subject);
create index notification_watch_wallet on notification_watch (wallet, created_at);

create table notification_plan (
  wallet text primary key,
  until_at timestamptz not null
);
create table notification_plan_sale (
  payment_id text collate "C" not null,
  round integer not null,
  wallet text not null,
  primary key (payment_id, round)
);

-- Gone with its event or endpoint, 14 days after its end at the latest.
create table notification_delivery (
  id bigint generated always as identity primary key,
  event_id bigint not null references notification_event on delete cascade,
  endpoint text not null references notification_endpoint on delete cascade,
  state text not null default 'pending' check (state in ('pending', 'sent', 'dead')),
  attempts integer not null default 0,
  due_at timestamptz not null,
  last_status text,
  ended_at timestamptz,
  unique (event_id, endpoint)
);
create index notification_delivery_due on notification_delivery (due_at) where state = 'pending';
create index notification_delivery_endpoint on notification_delivery (endpoint, id);

insert into operator_access values ('notification_endpoint'), ('notification_delivery');
insert into personal_data (place, what, erase) values
  ('notification_endpoint.target', 'mail addresses and webhooks', 'delete from notification_endpoint where wallet = $1');
