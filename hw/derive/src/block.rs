//! `#[derive(LogicBlock)]`.

use crate::is_signal;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataStruct, DeriveInput, Error, Fields, Result, Type};

/// Implements `Block`. A block at rest whose inputs have not changed skips its pass.
///
/// Its first input remembers whether it is at rest, which it is after a pass that changed no value.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "LogicBlock: expected a struct with named fields"));
    };
    // As for rust-hdl, names with an underscore are not parts of the circuit.
    let fields: Vec<_> = fields
        .named
        .iter()
        .filter_map(|field| Some((field.ident.as_ref()?, &field.ty)))
        .filter(|(name, _)| !name.to_string().starts_with('_'))
        .collect();
    let names: Vec<_> = fields.iter().map(|&(name, _)| name).collect();
    let labels: Vec<_> = names.iter().map(ToString::to_string).collect();
    let inputs: Vec<_> = fields.iter().filter(|(_, ty)| is_signal(ty, &["In"])).map(|&(name, _)| name).collect();
    let single = |(_, ty): &&(_, &Type)| is_signal(ty, &["In"]) && !matches!(ty, Type::Array(_));
    let rest = fields.iter().find(single).map(|&(name, _)| name);
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let pass = quote! {
        self.update();
        #(self.#names.update_all();)*
    };
    let changed = quote! { #(self.#names.has_changed())||* };
    let (update_all, has_changed) = match rest {
        None => (pass, changed),
        Some(first) => (
            quote! {
                use optireduce_hw::hdl::signal::Input;
                if !self.#first.at_rest #(|| self.#inputs.is_pending())* {
                    #pass
                    self.#first.at_rest = !(#changed);
                }
            },
            quote! { !self.#first.at_rest },
        ),
    };
    Ok(quote! {
        impl #impl_generics optireduce_hw::hdl::prelude::Block for #name #type_generics #where_clause {
            fn connect_all(&mut self) {
                self.connect();
                #(self.#names.connect_all();)*
            }

            fn update_all(&mut self) {
                #update_all
            }

            fn has_changed(&self) -> bool {
                #has_changed
            }

            fn accept(&self, name: &str, probe: &mut dyn optireduce_hw::hdl::prelude::Probe) {
                probe.visit_start_scope(name, self);
                #(self.#names.accept(#labels, probe);)*
                probe.visit_end_scope(name, self);
            }
        }
    })
}
