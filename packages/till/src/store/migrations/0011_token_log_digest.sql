-- What the kept logs of a subject add up to. A list that no longer does is not used: with a grant missing, a token
-- would look as if nobody had a power. Rows from before have no digest and are read anew.
alter table token_log_subject add column digest text check (length(digest) = 66);
