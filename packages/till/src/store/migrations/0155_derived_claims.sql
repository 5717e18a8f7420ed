-- The values of a claim follow from a secret, the domain, the wallet and the day, so a claim is kept from its first proof
-- on, and nobody can fill the table by registering.
delete from source_claim where state = 'open';
-- What is published for the claim; null for claims of before, which published their id.
alter table source_claim add column account text check (length(account) <= 40);
-- The wallet that the paid one agreed to be replaced by.
alter table source_claim add column agreed_wallet text check (agreed_wallet ~ '^0x[0-9a-f]{40}$');
-- What the last check found, for every claimant alike.
alter table source add column last_look jsonb;
-- The wallet of a claim that signed the dispute: strangers cannot take its place.
alter table source_dispute add column signed_by text check (signed_by ~ '^0x[0-9a-f]{40}$');
