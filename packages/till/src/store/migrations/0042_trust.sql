-- Agents that cite, and what their trust rests on: never on citing.
create table citing_agent (
  agent text primary key,
  -- Wallets with a common funder share one cluster, one bond and one voice; the agent that stands for it holds the rows.
  cluster text not null references citing_agent deferrable initially deferred,
  weight double precision not null default 0 check (weight between 0 and 1),
  seed boolean not null default false,
  bond_micro bigint not null default 0 check (bond_micro >= 0),
  independent_spend_micro bigint not null default 0 check (independent_spend_micro >= 0),
  first_seen_at timestamptz not null,
  -- Sum over its sources of the square root of how often it cited them.
  row_sum double precision not null default 0
);
create index citing_agent_cluster on citing_agent (cluster);

create table citation_edge (
  agent text not null references citing_agent,
  domain text not null references source,
  citations integer not null check (citations > 0),
  primary key (agent, domain)
);
create index citation_edge_by_domain on citation_edge (domain);

-- Folded from the edges of agents that hold trust.
create table source_trust (
  domain text primary key references source,
  mass double precision not null,
  -- mass² / sum of squares is the number of independent citers it amounts to.
  sum_squares double precision not null,
  updated_at timestamptz not null
);

-- A rank list from outside that the operator loaded; one list at a time.
create table external_rank (
  domain text primary key,
  position bigint not null check (position > 0)
);
create table external_rank_list (
  only_one boolean primary key default true check (only_one),
  name text not null,
  as_of text not null,
  licence text not null,
  entries bigint not null,
  loaded_at timestamptz not null
);

-- What an ordinary cited source holds; refolded with everything else once a day.
create table trust_scale (
  only_one boolean primary key default true check (only_one),
  mean_mass double precision not null check (mean_mass > 0),
  folded_at timestamptz not null
);

-- The newest score taken apart, so that a change of authority alone needs no page to be read again.
create table score_parts (
  domain text primary key references source,
  rest double precision not null,
  gate double precision not null,
  external double precision,
  authority double precision not null
);
