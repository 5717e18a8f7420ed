-- On chain already, in a block that is not final: from then on the contract takes proofs of this root and no other.
alter table creator_root add column landed boolean not null default false;
-- The way from the leaf to the root, 32 bytes a step; null for leaves older than this column.
alter table creator_leaf add column proof bytea;
