-- Whoever waits for work is woken by it, instead of asking again and again.
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

-- Readers of scores ask for what is newer than what they have.
create index source_by_scored_at on source (scored_at);
