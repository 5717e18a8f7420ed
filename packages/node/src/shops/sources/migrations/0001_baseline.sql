-- Domains that can be cited. A row says nothing about who owns it: claims do.
create table source (
  domain text primary key check (length(domain) between 3 and 253),
  registrable text not null,
  display text not null,
  homograph jsonb,
  -- Scheme and host under which it is asked.
  origin text not null,
  state text not null check (state in ('registered', 'proving', 'proven', 'disputed', 'held', 'refused')),
  state_reason text not null default '',
  sitemap text check (length(sitemap) <= 2048),
  synthetic boolean not null default false,
  proven_claim text,
  checked_at timestamptz,
  -- The newest row of source_score, for lists.
  cite_score smallint check (cite_score between 0 and 100),
  confidence real,
  scored_at timestamptz,
  score_wanted_at timestamptz,
  registered_at timestamptz not null,
  updated_at timestamptz not null,
  -- What the last check found, for every claimant alike.
  last_check jsonb,
  -- Pages the operator wants of it; null: by setting and score.
  pages_max integer check (pages_max between 1 and 1000000),
  -- The newest row of source_terms.
  creator_terms jsonb
);
create index source_by_score on source ((-coalesce(cite_score, -1)), domain);
create index source_score_wanted on source (score_wanted_at) where score_wanted_at is not null;
-- Hosts of one registrable domain take turns: anyone who owns a wildcard meets one visitor, not thousands.
create index source_by_registrable on source (registrable);
-- Readers of scores ask for what is newer than what they have.
create index source_by_scored_at on source (scored_at);

-- Somebody says a domain is theirs and where its money should go. Until proven, any number may say so.
create table source_claim (
  id text primary key,
  domain text not null references source,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  contact text check (length(contact) <= 320),
  kind text not null check (kind in ('claim', 'wallet_change')),
  -- The wallet that is paid now agreed to the change.
  consented boolean not null default false,
  token text not null check (length(token) = 43),
  token_expires_at timestamptz not null,
  state text not null check (state in ('open', 'waiting', 'proven', 'superseded', 'lost')),
  method text check (method in ('dns', 'file', 'meta')),
  proof jsonb,
  proven_at timestamptz,
  dns_proven_at timestamptz,
  wallet_proven_at timestamptz,
  takes_over_at timestamptz,
  failures integer not null default 0,
  checked_at timestamptz,
  next_check_at timestamptz,
  report jsonb,
  created_at timestamptz not null,
  -- What is published for the claim; null: its id.
  account text check (length(account) <= 40),
  -- The wallet that the paid one agreed to be replaced by.
  agreed_wallet text check (agreed_wallet ~ '^0x[0-9a-f]{40}$')
);
create unique index source_claim_live on source_claim (domain, wallet) where state in ('open', 'waiting', 'proven');
create unique index source_claim_proven on source_claim (domain) where state = 'proven';
create index source_claim_due on source_claim (next_check_at) where state in ('waiting', 'proven');
create index source_claim_by_wallet on source_claim (wallet);
alter table source add constraint source_proven_claim_fk foreign key (proven_claim) references source_claim;

-- A contest: by a second proof (then it is pending until its notice ends), or by words and evidence.
create table source_dispute (
  id text primary key,
  domain text not null references source,
  kind text not null check (kind in ('ownership', 'content', 'licence', 'score', 'other')),
  claim_id text references source_claim,
  statement text not null check (length(statement) between 1 and 4000),
  evidence_url text check (length(evidence_url) <= 2048),
  contact text check (length(contact) <= 320),
  state text not null check (state in ('received', 'pending', 'upheld', 'rejected')),
  outcome text,
  opened_at timestamptz not null,
  notice_until timestamptz,
  closed_at timestamptz,
  -- The wallet of a claim that signed the dispute: strangers cannot take its place.
  signed_by text check (signed_by ~ '^0x[0-9a-f]{40}$')
);
create index source_dispute_by_domain on source_dispute (domain, opened_at desc);

-- Every score ever given, each with the digest of the one before and our signature.
create table source_score (
  domain text not null references source,
  seq integer not null,
  score smallint not null check (score between 0 and 100),
  confidence real not null,
  model_version text not null,
  components jsonb not null,
  evidence_sha256 bytea not null check (length(evidence_sha256) = 32),
  previous_sha256 bytea check (length(previous_sha256) = 32),
  jws text not null,
  computed_at timestamptz not null,
  primary key (domain, seq)
);
insert into app_access values ('source_score', 'select, insert');
create trigger source_score_is_fixed before update or delete on source_score
  for each row execute function refuse_change();

-- What proven creators allow and ask for, by path: every version, with the wallet that signed it.
create table source_terms (
  domain text not null references source,
  seq integer not null,
  rules jsonb not null,
  set_by text not null check (set_by ~ '^0x[0-9a-f]{40}$'),
  set_at timestamptz not null,
  primary key (domain, seq)
);
insert into app_access values ('source_terms', 'select, insert');
create trigger source_terms_are_fixed before update or delete on source_terms
  for each row execute function refuse_change();

-- What being cited brought a domain: citations without those that were wash-traded, money with them.
create table source_usage (
  domain text primary key references source,
  citations bigint not null default 0 check (citations >= 0),
  earned_micro bigint not null default 0 check (earned_micro >= 0),
  paid_micro bigint not null default 0 check (paid_micro >= 0)
);

-- The queue of the crawler: one row a host, taken by anyone who is free, given back when the lease runs out.
create table crawl_host (
  domain text primary key references source,
  due_at timestamptz not null,
  leased_until timestamptz,
  lease_token bigint not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  failures integer not null default 0,
  last_problem text,
  -- What robots.txt, sitemap, TLS and so on were like, with digests and times.
  findings jsonb not null default '{}',
  -- A request for a visit that comes during a visit is kept for the next one.
  wanted_at timestamptz,
  -- Sitemaps and feeds that the operator named.
  listings jsonb not null default '[]'
);
create index crawl_host_due on crawl_host (due_at);

create table crawl_page (
  domain text not null references source,
  url text not null check (length(url) <= 2048),
  found_by text not null check (found_by in ('home', 'operator', 'sitemap', 'feed', 'llms', 'link', 'archive')),
  due_at timestamptz not null,
  attempts integer not null default 0,
  http_status integer,
  etag text,
  last_modified text,
  content_sha256 bytea,
  text_sha256 bytea,
  facts jsonb,
  problem text,
  first_read_at timestamptz,
  fetched_at timestamptz,
  changed_at timestamptz,
  change_seq bigint,
  -- Until the next visit, by how often it changes; null: the usual time.
  again_seconds integer check (again_seconds > 0),
  primary key (domain, url)
);
create unique index crawl_page_changes on crawl_page (change_seq) where change_seq is not null;

-- What a page said, kept so that a quote can be checked after the page changed.
create table page_version (
  domain text not null,
  url text not null,
  text_sha256 bytea not null check (length(text_sha256) = 32),
  content_sha256 bytea not null check (length(content_sha256) = 32),
  title text not null,
  text text not null,
  fetched_at timestamptz not null,
  primary key (domain, url, text_sha256),
  foreign key (domain, url) references crawl_page
);

-- Agents that cite, and what their trust rests on: never on citing.
create table citing_agent (
  agent text primary key,
  -- Wallets that live on the same money share one cluster and one weight, each by what it has at stake itself.
  cluster text not null references citing_agent deferrable initially deferred,
  weight double precision not null default 0 check (weight between 0 and 1),
  seed boolean not null default false,
  bond_micro bigint not null default 0 check (bond_micro >= 0),
  -- Since when it has been at stake; more of it moves this nearer to now.
  bonded_at timestamptz,
  independent_spend_micro bigint not null default 0 check (independent_spend_micro >= 0),
  first_seen_at timestamptz not null,
  -- Sum over its sources of the square root of how often it cited them.
  row_sum double precision not null default 0,
  -- True when the cluster follows from funding, and goes with it; false for one that the operator set.
  by_funding boolean not null default false
);
create index citing_agent_cluster on citing_agent (cluster);

create table citation_edge (
  agent text not null references citing_agent,
  domain text not null references source,
  citations integer not null check (citations > 0),
  -- Those whose quote was in the page.
  quotes integer not null default 0 check (quotes >= 0),
  primary key (agent, domain)
);
create index citation_edge_by_domain on citation_edge (domain);

-- Aggregated from the edges of agents that hold trust.
create table source_trust (
  domain text primary key references source,
  mass double precision not null,
  -- Sum of the weights behind it: a thousand wallets with a cent each are not a thousand citers.
  stake double precision not null,
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
  aggregated_at timestamptz not null
);

-- The newest score taken apart, so that a change of authority alone needs no page to be read again.
create table score_parts (
  domain text primary key references source,
  rest double precision not null,
  gate double precision not null,
  external double precision,
  authority double precision not null
);

-- Readers of pages follow this number: a page whose text or facts change, or that is gone, moves to the end.
create sequence page_change;

-- Every score is logged with its row, no matter who writes it.
create function log_source_score() returns trigger language plpgsql as $$
begin
  perform log_append('score', 'score:' || new.domain || ':' || new.seq,
    json_build_object('type', 'assay.score/v1', 'domain', new.domain, 'seq', new.seq, 'score', new.score, 'jws', new.jws)::text);
  return null;
end $$;
create trigger source_score_is_logged after insert on source_score for each row execute function log_source_score();

-- Anyone who waits for work is woken by it, instead of asking again and again.
create function announce_work() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], '');
  return null;
end $$;
create trigger crawl_host_new after insert on crawl_host
  for each row execute function announce_work('crawl_wanted');
create trigger crawl_host_wanted after update of wanted_at on crawl_host
  for each row when (new.wanted_at is distinct from old.wanted_at) execute function announce_work('crawl_wanted');
create trigger source_score_wanted after update of score_wanted_at on source
  for each row when (new.score_wanted_at is not null and old.score_wanted_at is null)
  execute function announce_work('score_wanted');
create trigger source_new after insert on source
  for each row when (new.score_wanted_at is not null) execute function announce_work('score_wanted');

insert into operator_access values ('source'), ('source_claim'), ('source_dispute'), ('crawl_host'), ('crawl_page');
