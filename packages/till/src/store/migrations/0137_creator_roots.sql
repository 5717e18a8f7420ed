-- Committed on chain beyond what creators have in the books: by roots that a restore took from the books. Zero otherwise.
alter table creator_root add column unassigned_micro bigint not null default 0 check (unassigned_micro >= 0),
  -- Found on the chain, not signed by these books.
  add column adopted boolean not null default false;
alter table creator_root alter column signature drop not null, alter column valid_before drop not null;
alter table creator_root add constraint creator_root_signed_check
  check (state <> 'signed' or (signature is not null and valid_before is not null));
