-- These rows are written with every sale. A regular expression over an address costs more than the rest of the row, and
-- addresses are parsed before they get here; the length and the prefix still catch what is none at all.
alter table loyalty
  drop constraint loyalty_wallet_check,
  drop constraint loyalty_affiliate_check,
  add constraint loyalty_wallet_check check (octet_length(wallet) = 42 and starts_with(wallet, '0x')),
  add constraint loyalty_affiliate_check check (octet_length(affiliate) = 42 and starts_with(affiliate, '0x'));
-- Updated in place, as long as a page has room.
alter table loyalty set (fillfactor = 50);

-- A contract wallet redeems on a chain on which it bought, and status pages ask by payer.
create index reward_sale_payer on reward_sale (payer, network);
