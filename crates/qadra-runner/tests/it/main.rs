mod bed;
mod egress;
mod kit;
mod node_http;
mod node_models;
mod web;
mod worker;
