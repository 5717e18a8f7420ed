-- What a wallet sent between a backup and its restore: there are few of those, and its other transfers need not be read for them.
create index concurrently transfer_in_gap on transfer (network, sender) where posted_as = 'gap';
