-- Pages that were cited, as they were read then; the crawler's own pages are not copied here.
create table cited_page (
  url text primary key check (length(url) <= 2048),
  final_url text not null check (length(final_url) <= 2048),
  http_status integer not null,
  title text not null,
  content_sha256 bytea not null check (octet_length(content_sha256) = 32),
  text_sha256 bytea not null check (octet_length(text_sha256) = 32),
  licence text,
  fetched_at timestamptz not null
);
create table cited_text (
  text_sha256 bytea primary key check (octet_length(text_sha256) = 32),
  text text not null
);

-- Stamped citations and anchored claims. What was signed and logged is the text of `record`, byte for byte.
create table attestation (
  id text primary key,
  kind text not null check (kind in ('citation', 'claim')),
  payment_id text not null unique,
  network text not null,
  agent text not null check (agent ~ '^0x[0-9a-f]{40}$'),
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  source_url text not null,
  domain text not null,
  registrable text not null,
  -- Whom it paid, where somebody had proven the source.
  creator text check (creator ~ '^0x[0-9a-f]{40}$'),
  record text not null,
  signed jsonb not null,
  price_micro bigint not null check (price_micro >= 0),
  quote_found boolean,
  -- Why it says nothing about the source, if it does not.
  wash text[] not null default '{}',
  created_at timestamptz not null,
  -- When it was taken into the books of trust.
  folded_at timestamptz
);
create index attestation_by_agent on attestation (agent, created_at desc);
create index attestation_by_pair on attestation (payer, creator) where creator is not null;
create index attestation_unfolded on attestation (created_at) where folded_at is null;
insert into app_access values ('attestation', 'select, insert, update (folded_at, wash)');
