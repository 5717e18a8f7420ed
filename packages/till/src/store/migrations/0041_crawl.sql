-- The queue of the crawler: one row a host, taken by whoever is free, given back when the lease runs out.
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
  findings jsonb not null default '{}'
);
create index crawl_host_due on crawl_host (due_at);

create table crawl_page (
  domain text not null references source,
  url text not null check (length(url) <= 2048),
  found_by text not null check (found_by in ('home', 'sitemap', 'feed', 'llms', 'link')),
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
  primary key (domain, url)
);

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
