-- Refusals that are over are deleted, and those in force are read every few seconds.
create index concurrently refused_payer_until on refused_payer (refused_until);
