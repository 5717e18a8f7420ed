-- The log has a long-lived key of its own. Keys of both purposes share tables, files and rules.
alter table keyring add column purpose text not null default 'response' check (purpose in ('response', 'log'));
-- The first key of the log is named by the key that signs answers, before any wallet has spoken.
alter table key_statement alter column wallet_signature drop not null;
alter table key_statement add check (wallet_signature is not null or predecessor_signature is not null);

create or replace function log_key() returns trigger language plpgsql as $$
begin
  perform log_append('key', 'key:' || new.key_id || ':' || coalesce(new.retires_at::text, '') || ':' || coalesce(new.revoked_at::text, ''),
    json_build_object('type', 'assay.key/v1', 'purpose', new.purpose, 'key_id', new.key_id, 'x', new.public_x,
      'activates_at', new.activates_at, 'retires_at', new.retires_at, 'revoked_at', new.revoked_at)::text);
  return null;
end $$;
