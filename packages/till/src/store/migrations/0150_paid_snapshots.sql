-- A cited page is stored when its attestation is committed. Texts without an attestation were stored for requests that were
-- never paid; the prune job deletes them.
alter table cited_text add column attestation text;
update cited_text t set attestation = used.id
from (
  select a.id, a.record::jsonb->>'text_sha256' as sha256 from attestation a where a.kind = 'citation'
  union all
  select a.id, s->>'text_sha256' from attestation a, jsonb_array_elements(a.record::jsonb->'sources') s
  where a.kind = 'claim'
) used
where t.text_sha256 = decode(substr(used.sha256, 3), 'hex');
create index cited_text_unused on cited_text (text_sha256) where attestation is null;
create index cited_page_by_text on cited_page (text_sha256);

-- The canonical link of the page, which may name another host of the same site to be paid.
alter table cited_page add column canonical text check (length(canonical) <= 2048);
