-- A search that was paid for: what was offered, so that a citation can name it and demand can be counted.
create table match_query (
  id text primary key,
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  query text not null check (length(query) <= 1000),
  -- Addresses and text digests of the pages offered, in rank order.
  pages jsonb not null,
  synthetic boolean not null default false,
  asked_at timestamptz not null
);
create index match_query_time on match_query (asked_at);
insert into app_access values ('match_query', 'select, insert, delete');

-- Pages as the engine `postgres` searches them; empty with any other. The number is that of the change in crawl_page.
create table match_page (
  page_id bigint primary key,
  domain text not null,
  -- Our own terms with their places; those of the title have the weight A.
  words tsvector not null,
  language text not null,
  licence text not null,
  type text not null,
  day integer not null
);
create index match_page_words on match_page using gin (words);
insert into app_access values ('match_page', 'select, insert, delete');
insert into personal_data (place, what, erase) values
  ('match_query.query', 'what was searched for', 'delete from match_query where payer = $1');
