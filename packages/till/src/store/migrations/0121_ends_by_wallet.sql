-- What a wallet did since the last fold of ratings is found by the wallet: without these, whoever asks about one reads
-- everything that all wallets did in the last minute.
create index payment_ended_by_payer on payment (payer, ended_at) where ended_at is not null;
create index entitled_call_drawn_by_account on entitled_call (account, ended_at) where port = 'credit' and state = 'captured';
