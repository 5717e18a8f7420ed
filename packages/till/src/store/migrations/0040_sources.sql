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
  updated_at timestamptz not null
);
create index source_by_score on source ((-coalesce(cite_score, -1)), domain);
create index source_score_wanted on source (score_wanted_at) where score_wanted_at is not null;

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
  created_at timestamptz not null
);
create unique index source_claim_live on source_claim (domain, wallet) where state in ('open', 'waiting', 'proven');
create unique index source_claim_proven on source_claim (domain) where state = 'proven';
create index source_claim_due on source_claim (next_check_at) where state in ('waiting', 'proven');
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
  closed_at timestamptz
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

-- What being cited brought a domain, and how its quotes held up when they were looked for again.
create table source_usage (
  domain text primary key references source,
  citations bigint not null default 0 check (citations >= 0),
  earned_micro bigint not null default 0 check (earned_micro >= 0),
  paid_micro bigint not null default 0 check (paid_micro >= 0),
  quotes_checked bigint not null default 0 check (quotes_checked >= quotes_found),
  quotes_found bigint not null default 0 check (quotes_found >= 0)
);
