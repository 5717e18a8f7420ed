-- The attestation over the record of a remittance, as citations and claims have one. Null for those remitted before.
alter table royalty_remittance add column signed jsonb;
