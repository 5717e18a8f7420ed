-- This node's own statement. The sequence only grows, whatever the clock does: a peer never takes an older one.
create table mesh_self (
  one boolean primary key default true check (one),
  sequence bigint not null check (sequence >= 0),
  statement text,
  issued_at timestamptz
);
insert into app_access values ('mesh_self', 'select, update');
insert into mesh_self (sequence) values (0);

-- Nodes the operator named at the command line, beside those of MESH_PEERS.
create table mesh_seed (
  address text primary key check (length(address) between 8 and 255),
  added_at timestamptz not null
);

-- Every node this one has heard of. Only `alive` and `suspect` are shown to others; the dead keep their row for a while,
-- so that nobody can bring them back with a statement that is older than the last one seen.
create table mesh_peer (
  did text primary key check (length(did) between 9 and 300),
  address text not null unique check (length(address) between 8 and 255),
  state text not null check (state in ('candidate', 'alive', 'suspect', 'dead')),
  found_by text not null check (found_by in ('seed', 'announce', 'gossip')),
  found_at timestamptz not null,
  -- The peer that named a candidate: one peer names so many and no more.
  named_by text,
  -- Names it gave that never answered, less those that did: it names fewer at a time.
  false_names integer not null default 0 check (false_names >= 0),
  first_seen_at timestamptz,
  sequence bigint not null default 0,
  statement text check (length(statement) <= 24576),
  expires_at timestamptz,
  keys jsonb not null default '[]',
  keys_read_at timestamptz,
  -- Where its answers came from: one machine cannot fill the list with names.
  network_address text,
  next_visit_at timestamptz not null,
  last_tried_at timestamptz,
  last_seen_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  health real not null default 0 check (health between 0 and 1),
  latency_ms real,
  announced_at timestamptz,
  price_mismatches jsonb not null default '[]',
  prices_checked_at timestamptz,
  -- What its own 402 asked, by method and capability.
  asked_micro jsonb not null default '{}',
  -- Signed evidence of a buyer that it asks others another price than it states: listed to nobody until then.
  dropped_until timestamptz,
  -- The wallet that vouches for its keys; a bond, payments and a registration of it give the peer weight.
  operator text check (operator ~ '^0x[0-9a-f]{40}$'),
  capabilities text[] not null default '{}',
  -- When its statement last changed here, and up to when this node has read the changes, the evidence and
  -- the agents that it tells.
  changed_at timestamptz,
  changes_read_ms bigint not null default 0,
  evidence_read_ms bigint not null default 0,
  agents_read_ms bigint not null default 0,
  reports_read_at timestamptz,
  problem text,
  check (state in ('candidate', 'dead') or statement is not null)
);
create index mesh_peer_due on mesh_peer (next_visit_at);
create index mesh_peer_capability on mesh_peer using gin (capabilities);
create index mesh_peer_changed on mesh_peer (changed_at);
create index mesh_peer_found on mesh_peer (state, found_at);

-- What buyers signed about nodes; the document verifies by itself. One of a kind for each payer and day.
create table mesh_evidence (
  id text primary key check (length(id) = 64),
  node text not null check (length(node) between 9 and 300),
  kind text not null check (kind in ('price', 'purchase')),
  capability text not null,
  reporter text not null check (reporter ~ '^0x[0-9a-f]{40}$'),
  day date not null,
  outcome text check (outcome in ('ok', 'disputed')),
  price_kept boolean,
  latency_ms integer,
  document text not null check (length(document) <= 65536),
  received_at timestamptz not null,
  unique (node, kind, capability, reporter, day)
);
create index mesh_evidence_received on mesh_evidence (received_at);

insert into operator_access values ('mesh_seed');
