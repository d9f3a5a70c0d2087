-- The names of the roles. Wherever a file of tables/ or functions/ needs one, it has
-- :"cgi" (an identifier) or :'cgi' (a text), which psql and the Node package replace;
-- psql does not do so inside of quotes and of $$.
\set owner urlmode_owner
\set cgi urlmode_cgi
\set server urlmode_server
\set operator urlmode_operator
