-- Whose each route is, in a node of several shops: revenue is kept by route and shown by shop.
create table route_shop (
  route_id text primary key,
  shop text not null
);
insert into app_access values ('route_shop', 'select, insert, update, delete');
