-- Documents about a wallet are kept for seconds; whoever keeps one learns at once that an authorization came or went.
create function tell_mandate_owner() returns trigger language plpgsql as $$
begin
  perform pg_notify('agent_changed', new.owner);
  return null;
end $$;
-- Draws only change counters, so they tell nobody.
create trigger mandate_news after insert or update of revoked_at on mandate
  for each row execute function tell_mandate_owner();
