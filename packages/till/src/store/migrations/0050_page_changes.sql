-- Readers of pages follow this number: a page whose text or facts change, or that is gone, moves to the end.
create sequence page_change;
alter table crawl_page add column change_seq bigint;
update crawl_page set change_seq = nextval('page_change') where facts is not null;
create unique index crawl_page_changes on crawl_page (change_seq) where change_seq is not null;
